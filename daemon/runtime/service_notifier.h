// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace offcpud {

// Reports the state of the daemon to the service manager (sd_notify(3)). Without NOTIFY_SOCKET,
// that is outside a service, every call does nothing. A lost message is no error for the daemon:
// the manager reacts to its absence.
class ServiceNotifier {
 public:
  ServiceNotifier();

  void ready(std::string_view status) const;
  void reloading() const;  // lasts until ready(), even after a failed reload
  void stopping() const;
  void status(std::string_view text) const;  // one line; `systemctl status` shows it
  void feed_watchdog() const;

  // How long the manager waits for feed_watchdog() before it kills the process; nullopt: there is
  // no watchdog. Feed it at least twice as often.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval() const {
    return watchdog_interval_;
  }

 private:
  std::optional<std::chrono::microseconds> watchdog_interval_;
};

}  // namespace offcpud
