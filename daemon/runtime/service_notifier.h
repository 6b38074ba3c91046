// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace offcpud {

// Tells the service manager where the daemon stands (sd_notify(3)). Without NOTIFY_SOCKET, that is
// outside a service, every call does nothing. A message that does not arrive is not an error for
// the daemon: the manager acts on its absence.
class ServiceNotifier {
 public:
  ServiceNotifier();

  void ready(std::string_view status) const;
  void reloading() const;  // ready() ends it, after a failed reload too
  void stopping() const;
  void status(std::string_view text) const;  // one line; `systemctl status` shows it
  void feed_watchdog() const;

  // How long the manager waits for feed_watchdog() before it kills; nullopt: no watchdog for this
  // process. Feed at least twice as often.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval() const {
    return watchdog_interval_;
  }

 private:
  std::optional<std::chrono::microseconds> watchdog_interval_;
};

}  // namespace offcpud
