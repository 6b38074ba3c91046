// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/why_query.h"
#include "base/wait_for.h"
#include "pipeline/view.h"

namespace offcpud {

// What goroutines of one program of a unit waited for at one place.
struct UnitGoroutines {
  std::string unit;
  std::string program;    // empty: the client may not see details; the next four are unset then
  std::uint32_t pid = 0;  // 0: several
  std::string function;   // empty: unknown, or several
  std::string reason;     // as Go's runtime calls it; empty: several
  std::string site;       // empty: no rule took them
  WaitFor wait_for = WaitFor::Unknown;
  double goroutines = 0;         // on average
  double now = 0;                // when they were looked at last
  std::uint64_t longest_ns = 0;  // how long one of them has waited, at least; 0: not known
};

// What goroutines waited for within a window.
struct WhyGoroutines {
  double seconds = 0;  // length of the window; 0: nothing is known
  // First the actionable ones, then the unknown, then the idle ones; each from the largest on.
  std::vector<UnitGoroutines> rows;
};

// What the goroutines of the cgroups that `query` admits waited for; with a process, only those of
// that process. `details`: whether the client may see programs and functions.
WhyGoroutines why_goroutines(const View& view, const WhyQuery& query, const ProcessRow* process,
                             bool details);

// Whether why_goroutines_text() has a sentence about goroutines with actionable waits.
bool tells_of_goroutines(const WhyGoroutines& goroutines);

// Lines for people; empty: there is nothing to say. `whole_host`: only actionable waits.
std::string why_goroutines_text(const WhyGoroutines& goroutines, bool whole_host);

}  // namespace offcpud
