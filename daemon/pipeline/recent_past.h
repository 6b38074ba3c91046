// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace offcpud {

// The last minutes are kept in steps that are at least this long: just below the default
// pass_interval.
inline constexpr std::chrono::seconds kStepOfPast{9};

// After this time, what a cgroup did counts half in the choice of whom to name.
inline constexpr std::chrono::duration<double> kHalfLifeOfDeeds{60};

}  // namespace offcpud
