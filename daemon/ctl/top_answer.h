// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace offcpud {

// Seconds by reason, cause or taker; what is not in there is 0.
using SecondsByName = std::map<std::string, double>;

// A row of the answer of /api/v1/top: docs/http.md. Times are of the interval unless said
// otherwise. Names are as the daemon sent them: terminal_text() makes them fit for a terminal.
struct TopRow {
  std::uint64_t pid = 0;
  std::string comm, cgroup;
  std::string unit;  // may be empty
  double actionable = 0, running = 0;
  SecondsByName blocked, runqueue;

  // Of a process.
  std::uint64_t threads = 0;
  double p50 = 0, p99 = 0, max = 0;  // infinite: beyond the longest bound
  std::string oldest_reason;         // empty: none
  double oldest = 0;

  // Of a thread.
  std::uint64_t tid = 0, cpu = 0;
  bool pinned = false;
  std::string state;  // "running", or the reason or cause of its wait
  std::optional<double> state_seconds;
  SecondsByName kept_off;
  std::string last_taker, longest_taker;  // empty: none
  double longest_wait = 0;                // since the daemon knows the thread
};

struct TopAnswer {
  std::optional<double> interval;  // seconds; nullopt: there is none yet
  std::string taken;               // "2026-11-20T12:19:40.250Z"
  TopRow totals;                   // of all processes
  std::uint64_t processes = 0;
  std::size_t matching = 0;  // rows before the limit
  bool of_threads = false;
  std::vector<TopRow> rows;
};

// Reads the body of an answer. The error says that it is none of offcpud's.
Result<TopAnswer> parse_top_answer(const std::string& json);

}  // namespace offcpud
