// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace offcpud {

// What was left out of stacks and their names, and why: there was no room or no time for it, or it
// could not be read. Values of the label `what` of offcpud_stack_sources_left_out_total. Each
// comment says whose it is, then why.
enum class StackLoss : std::size_t {
  UnwindTable,        // of an object: no room, replaced by others', or made late
  UnwindFile,         // the file of short-lived processes' objects: no room, no time to copy, or no
                      // mapping of it was reported
  Symbols,            // of an object, or a perf map: too many were waiting; tried again later
  SymbolsForgotten,   // of an object: no room beside those of others; read again when needed
  SymbolsUnreadable,  // of an object: it is gone or damaged, or reading it took too long
  Process,            // its mappings: there are too many processes
  EndedProcess,       // its mappings were gone before its last stacks were located
  WakerEvidence,      // who wakes threads at a place, or what is usual there: one user has too many
  StackNames,  // of functions of an examined stack, or the ends of these names: one stack or one
               // user has too many
  Sockets,     // of all processes: no room to look up who is at the other end of a connection
  Locks,       // for which threads wait: no room to look up who holds them
  // The functions of Python of a process, because of its CPython: the version is unknown, the build
  // is unknown, or its memory does not look as that version's does.
  PythonVersion,
  PythonBuild,
  PythonMemory,
  PythonStacks,  // the same of a thread: no room, or it ran while its stack was read
  Count
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(StackLoss::Count)>
    kStackLossNames = {"unwind_table",       "unwind_file",   "symbols",       "symbols_forgotten",
                       "symbols_unreadable", "process",       "ended_process", "waker_evidence",
                       "stack_names",        "sockets",       "locks",         "python_version",
                       "python_build",       "python_memory", "python_stacks"};

constexpr std::string_view name_of(StackLoss loss) {
  return kStackLossNames[static_cast<std::size_t>(loss)];
}
static_assert(!kStackLossNames.back().empty(), "each StackLoss has a name");

// Counts since the start, by StackLoss.
using StackLosses = std::array<std::uint64_t, kStackLossNames.size()>;

}  // namespace offcpud
