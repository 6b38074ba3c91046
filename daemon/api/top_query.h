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
#include "base/wait_for.h"

namespace offcpud {

// What /api/v1/top is sorted by: pid, tid, cpu and comm ascending, all others descending.
enum class TopSort {
  Waiting,     // actionable by what the waits are for, and waits for a CPU
  Unknown,     // waits whose purpose nobody can tell; this and the next: processes only
  Idle,        // for work or a timer
  Actionable,  // by reason: not idle-prone
  Blocked,     // the same without waits for a CPU
  Runqueue,    // waits for a CPU
  Running,
  Oldest,  // age of the oldest block that is not idle-prone; of a thread: age of its state
  Ended,   // from here to Threads: processes only
  P50,
  P99,
  Max,
  Threads,
  KeptOff,  // from here to Cpu: threads only
  Longest,
  Tid,
  Cpu,
  Pid,
  Comm,
};

// Which processes, or threads, a request asks for: the parameters of /api/v1/top.
struct TopQuery {
  std::optional<std::uint32_t> pid;
  std::string comm;  // part of the name of the thread or its process
  CgroupFilter cgroup;
  std::string filter;               // part of comm or cgroup
  std::optional<WaitFor> wait_for;  // selects those that wait for this; Waiting counts only that
  bool threads = false;
  std::optional<std::uint32_t> cpu;  // where the thread runs or ran last; needs `threads`
  bool pinned = false;               // needs `threads`
  TopSort sort = TopSort::Waiting;
  bool reverse = false;
  std::optional<std::size_t> limit;  // nullopt: all

  // Accepts each parameter at most once. Error (ErrorKind::Usage): names the unknown parameter or
  // refused value, and says what is allowed.
  static Result<TopQuery> parse(const std::multimap<std::string, std::string>& parameters);

  // Ignores cpu and pinned.
  [[nodiscard]] bool admits(std::uint32_t of_pid, std::string_view of_comm,
                            std::string_view process_comm, std::string_view of_cgroup) const;
};

}  // namespace offcpud
