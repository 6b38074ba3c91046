// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "attribution/cgroup_filter.h"
#include "base/result.h"

namespace offcpud {

// What /api/v1/top is sorted by. Numbers come with the largest first; pid, tid, cpu and comm rise.
enum class TopSort {
  Actionable,  // waits that are not idle-prone
  Blocked,     // the blocked ones of these
  Runqueue,    // waits for a CPU
  Running,
  Oldest,  // by the oldest block not idle-prone; of threads: the age of their state
  Ended,   // to Threads: processes only
  P50,
  P99,
  Max,
  Threads,
  KeptOff,  // to Cpu: threads only
  Longest,
  Tid,
  Cpu,
  Pid,
  Comm,
};

// Which processes, or threads, a request asks for: the parameters of /api/v1/top.
struct TopQuery {
  std::optional<std::uint32_t> pid;
  std::string comm;  // part of the thread's or its process's name
  CgroupFilter cgroup;
  std::string filter;  // comm or cgroup
  bool threads = false;
  std::optional<std::uint32_t> cpu;  // where the thread runs or ran last; only with threads
  bool pinned = false;               // only with threads
  TopSort sort = TopSort::Actionable;
  bool reverse = false;
  std::optional<std::size_t> limit;  // nullopt: all

  // Each parameter once at most. Error (ErrorKind::Usage): an unknown parameter or a value that is
  // not allowed, with what is.
  static Result<TopQuery> parse(const std::multimap<std::string, std::string>& parameters);

  // Ignores cpu and pinned.
  [[nodiscard]] bool admits(std::uint32_t of_pid, std::string_view of_comm,
                            std::string_view process_comm, std::string_view of_cgroup) const;
};

}  // namespace offcpud
