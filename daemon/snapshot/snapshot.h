// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "offcpud.h"

namespace offcpud {

// Texts below are bytes, as the kernel and symbol tables have them. Every format makes valid UTF-8
// of them, so what is read back from one has U+FFFD where they were none.

// One function on a stack, as the symbols of its object name it.
struct StackFrame {
  std::string function;  // demangled; or a name that says why there is none: "[jit]"
  std::string object;    // file name of the object without its folder, "[kernel]", "[vdso]"
  std::string build_id;  // hexadecimal; empty when unknown
  // In the object's own address space (ELF virtual address), never in that of a process. 0 where
  // there is no object.
  std::uint64_t address = 0;
  bool kernel = false;

  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

// The time that threads of one process waited at one place. Frames are indexes into
// Snapshot::frames, outermost (root) first. A stack that could not be walked has a frame that says
// why; both stacks empty is allowed.
struct StackEntry {
  std::uint32_t pid = 0;  // in the daemon's PID namespace
  std::string comm;       // of the process
  std::string thread_comm;
  std::string cgroup;                          // path
  std::size_t reason = OFFCPUD_BLOCKED_OTHER;  // enum offcpud_hist_kind
  bool in_progress = false;                    // the part of a block that has not ended yet
  std::vector<std::uint32_t> user, kernel;

  // Who woke it: "" when nobody is known. Kernel stack of the waker, and its user stack if there is
  // one.
  std::string waker_comm;  // "[irq]" for interrupts
  std::uint32_t waker_pid = 0;
  std::vector<std::uint32_t> waker_user, waker_kernel;

  std::uint64_t ns = 0;  // estimate, unbiased: the sum of the samples' weights
  double episodes = 0;   // estimate: the sum of weight / duration
  double variance = 0;   // of ns, in ns^2, estimate; 0: nothing was left to chance

  friend bool operator==(const StackEntry&, const StackEntry&) = default;
};

// Where threads waited within an interval, or within several when it was merged. Immutable once
// made.
struct Snapshot {
  std::uint64_t sequence = 0;  // given by the SnapshotStore; 0: not stored
  WallTime begin, end;         // end is before begin when the clock was set back in between
  // Length of what it covers, by CLOCK_MONOTONIC: a merged one can have gaps, and the wall clock
  // can be set. 0: not known; see covered().
  std::chrono::nanoseconds duration{0};
  bool partial = false;  // the daemon stopped before the interval was over
  // What was left out when it was taken, by the configuration then: each of the filters, sorted, of
  // all that it was merged from. Empty: nothing.
  std::vector<std::string> captured;
  // Of samples that were lost, whoever's they were: some may belong here. Of a profile that does
  // not ask for all; else what was lost is an entry.
  std::uint64_t lost_of_any_ns = 0;
  // The longest T that was in force: a block of length d stands for max(d, T). 0: not known.
  std::chrono::nanoseconds sampling_interval{0};
  std::vector<StackFrame> frames;
  std::vector<StackEntry> entries;

  [[nodiscard]] std::chrono::nanoseconds covered() const {
    if (duration.count() != 0) return duration;
    return end > begin ? std::chrono::nanoseconds(end - begin) : std::chrono::nanoseconds(0);
  }

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

}  // namespace offcpud
