// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace offcpud {

// What `offcpuctl top` asks the daemon for. The daemon checks the values.
struct TopRequest {
  std::string sort;    // empty: the daemon's choice
  std::string filter;  // part of comm or cgroup; empty: all
  std::string cgroup;  // path or unit; empty: all
  std::optional<std::uint32_t> pid, cpu;
  std::optional<std::size_t> limit;
  bool threads = false;
  bool pinned = false;  // with cpu: about threads
  bool reverse = false;

  // "/api/v1/top?threads=true&filter=a%20b"
  [[nodiscard]] std::string path() const;

  friend bool operator==(const TopRequest&, const TopRequest&) = default;
};

}  // namespace offcpud
