// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace offcpud {

// What stacks and their names are made from, and what was left out of it for lack of room or time:
// value of the label `what` of offcpud_stack_sources_left_out_total.
enum class StackLoss : std::size_t {
  UnwindTable,   // of an object: there was no room, it had to go for others', or it is made late
  UnwindFile,    // by which stacks of processes are walked that live for milliseconds: there was no
                 // room, or, of a copy of an object, no time, or nobody's mapping told of it
  Symbols,       // of an object, or a perf map: too many waited; it is tried again
  Process,       // its mappings: there are too many processes
  EndedProcess,  // its mappings, before the last stacks of it were located
};

inline constexpr std::array<std::string_view, 5> kStackLossNames = {
    "unwind_table", "unwind_file", "symbols", "process", "ended_process"};

constexpr std::string_view name_of(StackLoss loss) {
  return kStackLossNames[static_cast<std::size_t>(loss)];
}
static_assert(name_of(StackLoss::EndedProcess) == "ended_process");

// How many since the start, by StackLoss.
using StackLosses = std::array<std::uint64_t, kStackLossNames.size()>;

}  // namespace offcpud
