// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "why/why_inputs.h"

namespace offcpud {

// What the sources of WhyInputs have in common.

// Calls add(window, is_last) for the last windows that cover the time, the last first. Returns
// their length.
template <class Windows, class Add>
std::chrono::nanoseconds for_each_recent(const Windows& windows, std::chrono::nanoseconds time,
                                         Add add) {
  std::chrono::nanoseconds covered{0};
  for (auto window = windows.rbegin(); window != windows.rend() && covered < time; ++window) {
    add(**window, window == windows.rbegin());
    covered += (*window)->length();
  }
  return covered;
}

// Takes the sums over windows of this length as the source's rows.
template <class Row, class Sums>
void move_rows(Source<Row>& source, Sums& sums, std::chrono::nanoseconds length) {
  source.rows.reserve(sums.size());
  for (auto& [key, row] : sums) source.rows.push_back(std::move(row));
  source.sort();
  source.seconds = std::chrono::duration<double>(length).count();
}

}  // namespace offcpud
