// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace offcpud {

// When a block counts as a stall. An empty text matches everything; `cgroup` and `comm` are RE2
// regular expressions that must match the whole text; `reason` is a value of the label `reason`.
struct StallRule {
  std::string cgroup, comm, reason;
  std::optional<std::chrono::seconds> threshold;  // nullopt ("never"): never a stall

  friend bool operator==(const StallRule&, const StallRule&) = default;
};

// Which processes get series of their own: those that match every text that is not empty. The texts
// are RE2 regular expressions that must match the whole text.
struct ProcessRule {
  std::string comm, exe, unit, cgroup;

  friend bool operator==(const ProcessRule&, const ProcessRule&) = default;
};

// Which cgroups snapshots keep; `cgroup` as in StallRule.
struct CgroupRule {
  std::string cgroup;
  bool keep = true;

  friend bool operator==(const CgroupRule&, const CgroupRule&) = default;
};

// The address that offcpuctl tries first.
inline constexpr const char* kLocalSocket = "/run/offcpud/offcpud.sock";

// Every option of the daemon with its default. config/offcpud.yaml repeats the values, and a test
// compares them; its keys are the names here. The schema says which options a reload may change.
struct Config {
  std::string listen = "127.0.0.1:19435";      // host:port, [v6]:port or unix:PATH
  std::string state_dir = "/var/lib/offcpud";  // owned by the daemon's user
  std::string log_level = "info";              // trace, debug, info, warning, error

  std::chrono::milliseconds pass_interval{10'000};     // the maps are read at least this often
  std::chrono::milliseconds min_pass_interval{1'000};  // a scrape runs a pass if the last is older
  std::chrono::seconds linger{600};  // a removed cgroup keeps its series this long

  std::uint32_t max_cgroups = 1'024;   // cgroups measured separately; sizes the kernel maps
  std::uint32_t max_takers = 8;        // takers that are named for each cgroup; 0: none
  std::string disk_loads = "trace";    // how to know which cgroups load a disk: trace, io_stat, off
  std::uint32_t max_series = 4'000;    // histogram series on /metrics; the rest is "(other)"
  std::uint32_t classic_buckets = 28;  // 28 (powers of two of a second) or 14 (powers of four)

  std::chrono::milliseconds walk_cpu_budget{50};  // CPU time of a pass for walking the threads

  struct Stalls {
    std::chrono::seconds threshold{10};  // if not idle-prone and no rule decides
    std::vector<StallRule> rules;        // the first that matches decides
    std::vector<std::chrono::milliseconds> over{std::chrono::seconds(1), std::chrono::seconds(10),
                                                std::chrono::seconds(60)};  // ascending
    std::uint32_t keep = 256;     // ended stalls that are still shown
    std::uint32_t unusual = 100;  // a wait this many times as long as usual is unusual; 0: none is

    friend bool operator==(const Stalls&, const Stalls&) = default;
  } stalls;

  struct Processes {
    std::uint32_t max = 4'096;  // processes measured separately; sizes the kernel maps
    std::uint32_t top = 10;     // this many that wait most get series of their own
    std::vector<ProcessRule> rules;

    friend bool operator==(const Processes&, const Processes&) = default;
  } processes;

  struct Snapshots {
    bool enabled = true;
    std::chrono::seconds interval{60};
    std::chrono::seconds keep_for{24 * 3600};
    std::uint64_t keep_bytes = std::uint64_t{256} << 20U;
    std::uint32_t stacks_per_second = 200;  // target of adaptive sampling

    // Filters for blocks.
    static constexpr std::uint32_t kAllReasons = 0x7ff;
    static constexpr std::uint32_t kAllStates = 0x7;
    std::uint32_t reasons = kAllReasons;                    // bits by enum offcpud_hist_kind
    std::vector<CgroupRule> cgroups;                        // the first that matches decides
    std::optional<std::chrono::microseconds> min_duration;  // of the whole block
    std::optional<std::chrono::microseconds> max_duration;
    bool kernel_threads = true;
    std::uint32_t states = kAllStates;  // bits: interruptible, uninterruptible, stopped

    friend bool operator==(const Snapshots&, const Snapshots&) = default;
  } snapshots;

  struct Goroutines {
    bool enabled = true;
    std::chrono::milliseconds interval{1'000};  // between two looks at a Go program
    std::chrono::milliseconds cpu_budget{10};   // CPU time of a second for all looks

    friend bool operator==(const Goroutines&, const Goroutines&) = default;
  } goroutines;

  struct Web {
    std::string config_file;         // TLS and users (web_config.h); empty: none
    std::string details = "auto";    // who sees processes and stacks: auto, open, auth, off
    std::vector<std::string> hosts;  // names allowed in requests, besides those of this host
    std::string socket_group;        // of a unix socket; empty: that of the daemon
    std::string local_socket = kLocalSocket;  // one more unix socket; empty: none

    friend bool operator==(const Web&, const Web&) = default;
  } web;

  struct Push {
    std::string url;     // base URL of a Pyroscope server, http:// or https://; empty: push is off
    std::string tenant;  // X-Scope-OrgID; empty: none
    std::string application = "offcpud";
    std::vector<std::string> labels;  // "name=value" each, in addition to instance
    std::string username;             // basic authentication; empty: none
    std::string password_file;        // these are absolute paths; the contents are never shown
    std::string token_file;
    std::string ca_file;  // PEM; empty: the authorities of this host
    std::chrono::seconds timeout{10};
    std::uint64_t queue_bytes = std::uint64_t{16} << 20U;  // for snapshots that wait to be sent

    friend bool operator==(const Push&, const Push&) = default;
  } push;

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace offcpud
