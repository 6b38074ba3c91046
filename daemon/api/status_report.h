// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/scrape_costs.h"
#include "base/clock.h"
#include "base/thread_watch.h"
#include "pipeline/view.h"

namespace offcpud {

struct FeatureStatus {
  std::string name;
  bool enabled = false;
  std::string detail;  // what it gives, or why it is missing and how to get it
};

struct LastPass {
  std::chrono::nanoseconds age{};
  std::chrono::nanoseconds duration{};
};

struct ConfigStatus {
  std::vector<std::string> files;  // in force, in the order they were read; empty: the defaults
  bool last_reload_successful = true;
  std::string last_reload_error;
  std::vector<std::string> needs_restart;  // keys whose new values wait for a restart
  std::string captured;                    // the filters of snapshots; empty: none
  std::size_t site_rules = 0;              // rules that say what waits are for
  std::size_t sites = 0;                   // the sites that they name
};

struct PushStatus {
  std::string url;         // empty: hidden from this client
  std::size_t queued = 0;  // snapshots that wait to be sent
  std::uint64_t queued_bytes = 0;
  std::optional<WallTime> last_success;
  std::string last_error;  // empty when the last attempt was successful
};

// The processes that read other processes' files and memory. Such a read may block.
struct ReaderStatus {
  std::uint64_t hangs = 0;    // requests that were not answered in time
  std::uint64_t refused = 0;  // requests that were not made because of earlier hangs
  std::uint64_t stuck = 0;    // readers that were killed but have not ended yet
};

// CPU time and memory of the daemon itself.
struct OwnUse {
  std::uint64_t resident_bytes = 0;
  double cpu_seconds = 0;  // of all its threads, since its start
  // Share of the host's CPU time in the last minute, kernel programs included; nullopt: not yet
  // known.
  std::optional<double> overhead_ratio;
};

// What the client may see: docs/security.md.
struct AccessStatus {
  bool details = false;    // stacks, processes, threads
  bool addresses = false;  // in processes, words of their memory, and paths of their files
};

// A process with more mappings than its share; the daemon does not keep all of them.
struct OverShareStatus {
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> uid;  // nullopt: the process has ended
  std::uint64_t mappings = 0;

  bool operator==(const OverShareStatus&) const = default;
};

// The state of the daemon for people: /api/v1/status and `systemctl status`.
struct StatusReport {
  std::string version;
  std::string revision;
  std::string kernel;
  std::string host;  // its name
  std::string listen;
  std::string local_socket;  // empty: none
  AccessStatus access;
  std::chrono::nanoseconds uptime{};
  std::vector<FeatureStatus> features;

  std::vector<std::string> waiting;        // waiting_now()
  std::vector<std::string> waiting_sites;  // the same with sites

  std::optional<LastPass> last_pass;  // nullopt before the first one
  std::uint64_t passes = 0;
  std::uint64_t pass_failures = 0;

  std::uint64_t subjects = 0;
  std::uint64_t series = 0;
  std::uint64_t series_folded = 0;
  std::uint64_t max_series = 0;
  CostByFormat scrapes;  // the last scrape in each format
  std::uint64_t threads_left_censored = 0;
  std::vector<LossCount> losses;
  // The part of `losses` that a guarded process 1 causes: docs/kernel-support.md.
  std::uint64_t losses_of_guard = 0;
  std::uint64_t events = 0;  // runs of the kernel programs so far, estimated
  std::vector<MapUsage> maps;
  std::vector<OverShareStatus> over_share;  // at most 16, those with the most mappings first

  std::vector<ThreadState> threads;     // of the daemon
  std::optional<OwnUse> own_use;        // nullopt: /proc cannot be read
  std::optional<PushStatus> push;       // nullopt: push is off
  std::optional<ReaderStatus> readers;  // nullopt: no snapshots, so no readers
  ConfigStatus config;
};

// Copies into the report what the View knows: age of the last pass, subjects, series, losses, maps.
void describe_view(StatusReport& report, const View& view, MonotonicTime now);

// The report that everybody may see: no processes and no push address; an error becomes a sentence
// that says where to look, because errors quote servers and files.
StatusReport without_details(StatusReport report);

// The body of /api/v1/status; "summary" is status_line(). Bytes that are not UTF-8 become U+FFFD.
std::string status_json(const StatusReport& report);

// What a scrape costs the network and the server, in both formats, in one line: "a scrape of 1842
// series is 57102 samples in 9.1 MB as text, 1951 samples in 0.5 MB as protobuf".
std::string scrape_line(const CostByFormat& scrapes);

// One line: "214 cgroups, 1,842 series, 0 events lost, last pass 2 s ago", or "1,190 of 40 million
// events lost (0.003 %)".
std::string status_line(const StatusReport& report);

}  // namespace offcpud
