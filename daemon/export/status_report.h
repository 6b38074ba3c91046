// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/view.h"

namespace offcpud {

struct FeatureStatus {
  std::string name;
  bool enabled = false;
  std::string detail;  // what it gives, or why it is missing and what would help
};

struct LastPass {
  std::chrono::nanoseconds age{};
  std::chrono::nanoseconds duration{};
};

struct ConfigStatus {
  std::vector<std::string> files;  // in force, in the order they were read; none: the defaults
  bool last_reload_successful = true;
  std::string last_reload_error;
};

// The state of the daemon for people: /api/v1/status and the text of `systemctl status`.
struct StatusReport {
  std::string version;
  std::string revision;
  std::string kernel;
  std::string listen;
  std::chrono::nanoseconds uptime{};
  std::vector<FeatureStatus> features;

  std::optional<LastPass> last_pass;  // nullopt before the first one
  std::uint64_t passes = 0;
  std::uint64_t pass_failures = 0;

  std::uint64_t subjects = 0;
  std::uint64_t series = 0;
  std::uint64_t series_folded = 0;
  std::uint64_t threads_left_censored = 0;
  std::vector<LossCount> losses;
  std::vector<MapUsage> maps;

  ConfigStatus config;
};

// Takes over what the View knows: the age of the last pass, subjects, series, losses and maps.
void describe_view(StatusReport& report, const View& view, MonotonicTime now);

// With status_line() as "summary". Bytes that are not UTF-8 become U+FFFD.
std::string status_json(const StatusReport& report);

// One line: "214 cgroups, 1842 series, 0 events lost, last pass 2 s ago".
std::string status_line(const StatusReport& report);

}  // namespace offcpud
