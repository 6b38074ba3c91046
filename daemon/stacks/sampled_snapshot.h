// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "pipeline/exemplar_book.h"
#include "snapshot/snapshot.h"
#include "stacks/capture_rules.h"
#include "stacks/cgroup_paths.h"
#include "stacks/stack_sums.h"

namespace offcpud {

// The samples of an interval, before functions of programs are named.
struct SampledInterval {
  WallTime begin, end;
  MonotonicTime ended;  // the same moment as `end`
  std::chrono::nanoseconds duration{0};
  bool partial = false;                         // ended early
  std::shared_ptr<const CaptureRules> capture;  // null: everything, as requested
  CgroupPaths cgroups;
  StackSums::Drained stacks{};
  std::uint64_t lost_ns = 0;             // time of samples that were lost
  std::uint64_t lost_of_any_ns = 0;      // such time, of which some may not have been requested
  ReasonIntervals sampling_intervals{};  // the longest
  std::unordered_map<std::uint64_t, StackFrame> kernel_names{};  // by return address
};

// Names functions of programs while a snapshot is made.
class FunctionNames {
 public:
  virtual ~FunctionNames() = default;
  // `waker`: the frame is one of the waker's process; otherwise of the process in `sample`.
  virtual StackFrame name(const offcpud_sample& sample, const LocatedFrame& frame, bool waker) = 0;
};

// Says what blocks were for while a snapshot is made.
class WaitClasses {
 public:
  virtual ~WaitClasses() = default;
  // Sets `wait_for` and `site` of an entry, which is otherwise complete and is about to be added to
  // `snapshot`, whose frames it uses. At later calls the same snapshot has more entries and frames.
  // `own_timer`: the thread's own timer ended its blocks.
  virtual void classify(const Snapshot& snapshot, StackEntry& entry, const BlockSum& sum,
                        bool own_timer) = 0;
  // Call it after the last entry: sets `wait_for` where it depends on other entries. The sums still
  // exist.
  virtual void decide(Snapshot& snapshot) = 0;
};

// A snapshot, and the longest ended episode of each of its entries.
struct SampledSnapshot {
  Snapshot snapshot;
  std::vector<FoundExemplar> exemplars;
};

// Names the functions of an interval, says what each block was for, and leaves out cgroups that the
// rules exclude. Time without a stack gets a frame that says why, and is for WaitFor::Unknown.
SampledSnapshot snapshot_of(const SampledInterval& interval, FunctionNames& names,
                            WaitClasses& classes);

}  // namespace offcpud
