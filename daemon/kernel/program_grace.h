// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace offcpud {

// The longest time between a program finding what it adds to and adding to it. Programs run with
// interrupts off; a second covers a virtual CPU that is not scheduled in between.
inline constexpr std::chrono::seconds kProgramGrace{1};

}  // namespace offcpud
