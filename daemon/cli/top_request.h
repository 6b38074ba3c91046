// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace offcpud {

// The parameters that `offcpuctl top` sends. The daemon checks the values.
struct TopRequest {
  std::string sort;      // empty: the daemon's choice
  std::string filter;    // part of comm or cgroup; empty: all
  std::string cgroup;    // path or unit; empty: all
  std::string wait_for;  // only waits for this; empty: all
  std::optional<std::uint32_t> pid, cpu;
  std::optional<std::size_t> limit;
  bool threads = false;
  bool pinned = false;  // like cpu, ignored unless `threads`
  bool reverse = false;
  bool by_reason = false;  // instead of by what waits are for

  // Such as "/api/v1/top?threads=true&filter=a%20b".
  [[nodiscard]] std::string path() const;

  friend bool operator==(const TopRequest&, const TopRequest&) = default;
};

}  // namespace offcpud
