// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <utility>

#include "api/recent_windows.h"
#include "base/clock.h"
#include "why/why_inputs.h"

namespace offcpud {

// What the sources of WhyInputs have in common.

// Takes the sums over windows of this length as the source's rows.
template <class Row, class Sums>
void move_rows(Source<Row>& source, Sums& sums, std::chrono::nanoseconds length) {
  source.rows.reserve(sums.size());
  for (auto& [key, row] : sums) source.rows.push_back(std::move(row));
  source.sort();
  source.seconds = in_seconds(length);
}

}  // namespace offcpud
