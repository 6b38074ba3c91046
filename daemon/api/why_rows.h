// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>

#include "api/recent_windows.h"
#include "base/clock.h"
#include "base/wait_time.h"
#include "why/why_inputs.h"

namespace offcpud {

// What the sources of WhyInputs have in common.

// The most rows of one source, not counting those that sum up the rest. Only a time longer than the
// default reaches this; the latest windows are added first.
inline constexpr std::size_t kMostSourceRows = 8'192;

// Whether a row with this key has a place, or gets one. Counts it as left out if not.
template <class Row, class Sums, class Key>
bool has_room(Source<Row>& source, const Sums& sums, const Key& key) {
  if (sums.size() < kMostSourceRows || sums.contains(key)) return true;
  ++source.left_out;
  return false;
}

// Takes the sums over windows of this length as the source's rows.
template <class Row, class Sums>
void move_rows(Source<Row>& source, Sums& sums, std::chrono::nanoseconds length) {
  source.rows.reserve(sums.size());
  for (auto& [key, row] : sums) source.rows.push_back(std::move(row));
  source.sort();
  source.seconds = in_seconds(length);
}

// Scales an amount from a process's window to the window of the host's units, so that all rows of a
// source are divided by the same length.
inline WaitTime scaled(const WaitTime& time, double scale) {
  return {.ns = time.ns * scale, .variance_ns2 = time.variance_ns2 * scale * scale};
}

}  // namespace offcpud
