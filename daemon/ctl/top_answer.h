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

// What threads waited for: means over the window, in threads.
struct TopWaits {
  struct Mean {
    double waiting = 0, error = 0;  // and its standard error
  };
  struct Site {
    std::string wait_for, site;  // site may be empty
    double waiting = 0;
    std::uint64_t lasting = 0;  // long waits in progress
    double oldest = 0;          // seconds, at the end of the window; 0: none
    bool estimated = false;     // the oldest began before the daemon did
  };
  double actionable = 0, error = 0;  // and its standard error
  double children = 0, idle = 0, unknown = 0;
  std::map<std::string, Mean> by_for;
  std::vector<Site> sites;  // the actionable ones first, the longest first
};

// A row of the answer of /api/v1/top (docs/http.md). Times are within the interval unless stated.
// Names are as the daemon sent them; use terminal_text() to print them.
struct TopRow {
  std::uint64_t pid = 0;
  std::string comm, cgroup;
  std::string unit;  // may be empty
  double actionable = 0, running = 0;
  SecondsByName blocked, runqueue;
  TopWaits waits;  // of processes only; without TopAnswer::window empty

  // Of processes only.
  std::uint64_t ended_processes = 0;  // how many the row sums; 0: it is a process that lives
  std::uint64_t threads = 0;
  double p50 = 0, p99 = 0, max = 0;  // infinite: above the highest bound
  std::string oldest_reason;         // empty: none
  double oldest = 0;
  bool oldest_estimated = false;  // it began before the daemon did

  // Of threads only.
  std::uint64_t tid = 0, cpu = 0;
  bool pinned = false;
  std::string state;  // "running", or the reason or cause of the wait
  std::optional<double> state_seconds;
  bool state_estimated = false;  // as oldest_estimated
  double waiting = 0;
  std::string wait_for, site;  // of the block that it is in; empty: not known
  SecondsByName kept_off;
  std::string last_taker, longest_taker;  // empty: none
  double longest_wait = 0;                // since the daemon first saw the thread
};

struct TopAnswer {
  std::optional<double> interval;  // seconds; nullopt: there is no interval yet
  std::optional<double> window;    // seconds, of TopWaits; nullopt: nobody says what waits are for
  double window_age = 0;           // seconds since its end
  std::string taken;               // "2026-11-20T12:19:40.250Z"
  std::string wait_for;            // only waits for this were requested; empty: all
  TopRow totals;                   // over all processes
  // The sum over the processes that match, or whose threads do. nullopt: all processes match, or
  // only some threads of a process do.
  std::optional<TopRow> selected;
  std::uint64_t processes = 0;
  std::uint64_t unusual = 0;  // waits of the host that are unusually long
  std::size_t matching = 0;   // how many rows there would be without the limit
  bool of_threads = false;
  std::vector<TopRow> rows;
};

// Reads the body of an answer. The error says that it is not an answer of offcpud.
Result<TopAnswer> parse_top_answer(const std::string& json);

}  // namespace offcpud
