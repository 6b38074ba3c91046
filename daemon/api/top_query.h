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
  Blocked,     // of these, the blocked ones
  Runqueue,    // and those for a CPU
  Running,
  Oldest,  // block in progress that is not idle-prone; of threads: the state they are in
  Ended,   // processes only, down to Threads
  P50,
  P99,
  Max,
  Threads,
  KeptOff,  // threads only, as Longest, Tid and Cpu
  Longest,
  Tid,
  Cpu,
  Pid,
  Comm,
};

// Which processes, or threads, a request asks for: the parameters of /api/v1/top.
struct TopQuery {
  std::optional<std::uint32_t> pid;
  std::string comm;  // part of the name; of a thread's own or its process's
  CgroupFilter cgroup;
  std::string filter;  // part of either
  bool threads = false;
  std::optional<std::uint32_t> cpu;  // where the thread runs or ran last; only with threads
  bool pinned = false;               // only with threads
  TopSort sort = TopSort::Actionable;
  bool reverse = false;
  std::optional<std::size_t> limit;  // nullopt: all

  // Each parameter once at most. Error (ErrorKind::Usage): an unknown parameter or a value that is
  // not allowed, with what is.
  static Result<TopQuery> parse(const std::multimap<std::string, std::string>& parameters);

  // All but cpu and pinned.
  [[nodiscard]] bool admits(std::uint32_t of_pid, std::string_view of_comm,
                            std::string_view process_comm, std::string_view of_cgroup) const;
};

}  // namespace offcpud
