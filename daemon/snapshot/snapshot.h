// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "base/interpreted_name.h"
#include "base/wait_for.h"
#include "offcpud.h"
#include "snapshot/reason_intervals.h"

namespace offcpud {

// Texts below are bytes, as the kernel and symbol tables have them. File formats replace invalid
// UTF-8 by U+FFFD, so what is read back may differ there.

// One function on a stack, named by the symbols of its object.
struct StackFrame {
  std::string function;  // demangled; or why there is no name: "[jit]"
  // File name of the object without its folder; "[kernel]", "[vdso]", kInterpretedObject.
  std::string object;
  std::string build_id;  // hexadecimal; empty when unknown
  // Address in the object (ELF virtual address), never in a process. 0: there is no object.
  std::uint64_t address = 0;
  bool kernel = false;
  std::uint32_t line = 0;  // in the source; 0: unknown, as of all but interpreted functions

  friend bool operator==(const StackFrame&, const StackFrame&) = default;
};

// The time that threads of one process waited in one place. Frames are indexes into
// Snapshot::frames, outermost (root) first. An incomplete stack has a frame that says why; both
// stacks may be empty.
struct StackEntry {
  std::uint32_t pid = 0;  // in the daemon's PID namespace
  std::string comm;       // of the process
  std::string thread_comm;
  std::string cgroup;                          // path
  std::size_t reason = OFFCPUD_BLOCKED_OTHER;  // enum offcpud_hist_kind
  WaitFor wait_for = WaitFor::Unknown;
  std::string site;          // name of the place, which a rule gave it; empty: no rule took it
  bool in_progress = false;  // the part of a block that has not ended yet
  std::vector<std::uint32_t> user, kernel;

  // Who woke the thread: "" if unknown. The stacks are those of the waker; the user stack may be
  // empty.
  std::string waker_comm;  // "[irq]" for interrupts
  std::uint32_t waker_pid = 0;
  std::vector<std::uint32_t> waker_user, waker_kernel;

  std::uint64_t ns = 0;  // unbiased estimate: the sum of the samples' weights
  double episodes = 0;   // estimate: the sum of weight / duration
  double variance = 0;   // estimate, of ns, in ns^2; 0: all blocks were sampled

  friend bool operator==(const StackEntry&, const StackEntry&) = default;
};

// Frames of the entries that stand for time whose stacks are not known.
inline constexpr std::string_view kNoRoomForSamples = "[samples that found no room]";
inline constexpr std::string_view kNoRoomForStacks = "[more different stacks than are kept]";

// Where threads waited within an interval, or within several if it was merged. Immutable once made.
struct Snapshot {
  std::uint64_t sequence = 0;  // assigned by the SnapshotStore; 0: not stored
  WallTime begin, end;         // end is before begin if the clock was set back meanwhile
  // The time covered, by CLOCK_MONOTONIC: a merged snapshot can have gaps, and the wall clock can
  // be set. 0: unknown; see covered().
  std::chrono::nanoseconds duration{0};
  bool partial = false;  // the daemon stopped before the interval ended
  // What the configuration excluded when the snapshot was taken: all filters of all merged
  // snapshots, sorted. Empty: nothing.
  std::vector<std::string> captured;
  // Time without a stack (is_without_stack()) that a filter left out although some of it may belong
  // here. Without a filter, such time is an entry.
  std::uint64_t lost_of_any_ns = 0;
  // The longest T that was in force: a block of length d stands for max(d, T). 0: not known. Of a
  // merged snapshot: the longest for the reasons asked for.
  std::chrono::nanoseconds sampling_interval{0};
  ReasonIntervals reason_intervals{};  // the same by reason
  std::vector<StackFrame> frames;
  std::vector<StackEntry> entries;

  [[nodiscard]] std::chrono::nanoseconds covered() const {
    if (duration.count() != 0) return duration;
    return end > begin ? std::chrono::nanoseconds(end - begin) : std::chrono::nanoseconds(0);
  }

  friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

// Whether the entry stands for waits whose stacks, and so whose threads, are unknown.
inline bool is_without_stack(const Snapshot& snapshot, const StackEntry& entry) {
  if (entry.cgroup != kOtherCgroup || entry.user.size() != 1 || !entry.kernel.empty()) return false;
  const std::string& why = snapshot.frames[entry.user.front()].function;
  return why == kNoRoomForSamples || why == kNoRoomForStacks;
}

}  // namespace offcpud
