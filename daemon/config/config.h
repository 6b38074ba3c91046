// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace offcpud {

// Every option of the daemon with its default: the one truth. config/offcpud.yaml spells the same
// values out and is tested equal; the keys there are the names here. What may change on SIGHUP is
// said in the schema.
struct Config {
  std::string listen = "127.0.0.1:19435";      // host:port, [v6]:port or unix:PATH
  std::string state_dir = "/var/lib/offcpud";  // owned by the daemon's user
  std::string log_level = "info";              // trace, debug, info, warning, error

  std::chrono::milliseconds pass_interval{10'000};     // the maps are read at least this often
  std::chrono::milliseconds min_pass_interval{1'000};  // a scrape reads them when they are older
  std::chrono::seconds linger{600};  // a removed cgroup keeps its series this long

  std::uint32_t max_cgroups = 1'024;   // cgroups measured apart; sizes the kernel maps
  std::uint32_t max_series = 4'000;    // histogram series on /metrics; the rest is "(other)"
  std::uint32_t classic_buckets = 28;  // 28 (powers of two of a second) or 14 (powers of four)

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace offcpud
