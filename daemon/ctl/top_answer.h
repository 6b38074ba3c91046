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

// Seconds by reason, cause or taker; those without time are missing.
using SecondsByName = std::map<std::string, double>;

// A row of the answer of /api/v1/top (docs/http.md). Times are within the interval unless stated.
// Names are as the daemon sent them; use terminal_text() to print them.
struct TopRow {
  std::uint64_t pid = 0;
  std::string comm, cgroup;
  std::string unit;  // may be empty
  double actionable = 0, running = 0;
  SecondsByName blocked, runqueue;

  // Of processes only.
  std::uint64_t threads = 0;
  double p50 = 0, p99 = 0, max = 0;  // infinite: above the highest bound
  std::string oldest_reason;         // empty: none
  double oldest = 0;

  // Of threads only.
  std::uint64_t tid = 0, cpu = 0;
  bool pinned = false;
  std::string state;  // "running", or the reason or cause of the wait
  std::optional<double> state_seconds;
  SecondsByName kept_off;
  std::string last_taker, longest_taker;  // empty: none
  double longest_wait = 0;                // since the daemon first saw the thread
};

struct TopAnswer {
  std::optional<double> interval;  // seconds; nullopt: there is no interval yet
  std::string taken;               // "2026-11-20T12:19:40.250Z"
  TopRow totals;                   // over all processes
  std::uint64_t processes = 0;
  std::size_t matching = 0;  // rows without the limit
  bool of_threads = false;
  std::vector<TopRow> rows;
};

// Reads the body of an answer. The error says that it is not an answer of offcpud.
Result<TopAnswer> parse_top_answer(const std::string& json);

}  // namespace offcpud
