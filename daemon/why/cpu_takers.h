// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "why/cause.h"

namespace offcpud {

// Who had the CPU for at least half of the time for which threads of a unit waited for one within
// the window. Nobody knows which of these waits made others wait.
struct CpuTaker {
  Cause::Kind kind = Cause::Kind::Unit;  // Unit, Self or Kernel
  bool is_limit = false;                 // Self: cpu.max held the unit back
  std::string name;                      // of the unit; empty: kernel threads
  double threads = 0;                    // that waited for it, on average
  double share = 0;                      // of all waits of the unit for a CPU
};

// Nothing: nobody had half of it, or it is not known.
std::optional<CpuTaker> main_taker(const WhyInputs& inputs, const std::string& unit);

// "mostly behind batch.service (83 % of all its waits for one in this window)". `unit`: who waited.
std::string behind_text(const CpuTaker& taker, const std::string& unit);

Cause::Kind kind_of(UnitTaker::By by);

}  // namespace offcpud
