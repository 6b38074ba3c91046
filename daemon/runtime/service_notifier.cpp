// SPDX-License-Identifier: Apache-2.0
#include "runtime/service_notifier.h"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace offcpud {
namespace {

// The protocol separates assignments by line ends.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

void send(const std::string& state) {
  (void)sd_notify(/*unset_environment=*/0, state.c_str());
}

}  // namespace

ServiceNotifier::ServiceNotifier() {
  std::uint64_t usec = 0;
  if (sd_watchdog_enabled(/*unset_environment=*/0, &usec) > 0) {
    watchdog_interval_ = std::chrono::microseconds(usec);
  }
}

void ServiceNotifier::ready(std::string_view status) const {
  send("READY=1\nSTATUS=" + one_line(status));
}

void ServiceNotifier::reloading() const {
  // With Type=notify-reload, systemd (253) compares the time with that of its own SIGHUP.
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now.count()) +
       "\nSTATUS=Reloading the configuration");
}

void ServiceNotifier::stopping() const {
  send("STOPPING=1\nSTATUS=Stopping");
}

void ServiceNotifier::status(std::string_view text) const {
  send("STATUS=" + one_line(text));
}

void ServiceNotifier::feed_watchdog() const {
  send("WATCHDOG=1");
}

}  // namespace offcpud
