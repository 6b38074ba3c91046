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

// What was sampled in an interval, before functions of programs are named.
struct SampledInterval {
  WallTime begin, end;
  MonotonicTime ended;  // the same moment as `end`
  std::chrono::nanoseconds duration{0};
  bool partial = false;                         // ended before its time
  std::shared_ptr<const CaptureRules> capture;  // null: everything that was asked for
  CgroupPaths cgroups;
  StackSums::Drained stacks{};
  std::uint64_t lost_ns = 0;         // of samples that did not arrive
  std::uint64_t lost_of_any_ns = 0;  // the same, of which some may not have been asked for
  std::chrono::nanoseconds sampling_interval{0};                 // as Snapshot::sampling_interval
  std::unordered_map<std::uint64_t, StackFrame> kernel_names{};  // by return address
};

// Names of functions in programs, asked when a snapshot is made.
class FunctionNames {
 public:
  virtual ~FunctionNames() = default;
  // `sample` says whose process it is, unless `waker`: then it is the waker's.
  virtual StackFrame name(const offcpud_sample& sample, const LocatedFrame& frame, bool waker) = 0;
};

// A snapshot, and of each of its entries the longest episode that has ended.
struct SampledSnapshot {
  Snapshot snapshot;
  std::vector<FoundExemplar> exemplars;
};

// Names what was sampled, and leaves out the cgroups that the rules do not keep. Time without a
// stack stays under a frame that says why.
SampledSnapshot snapshot_of(const SampledInterval& interval, FunctionNames& names);

}  // namespace offcpud
