// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sampling/block_stacks.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// What was sampled in an interval, before names are looked up.
struct SampledInterval {
  WallTime begin, end;
  std::chrono::nanoseconds duration{0};
  bool partial = false;  // ended before its time
  BlockStacks::Cut cut;
  std::uint64_t lost_ns = 0;                                   // of samples that did not arrive
  std::unordered_map<std::uint64_t, StackFrame> kernel_names;  // by return address
};

// Names of functions in programs, asked when a snapshot is made.
class FunctionNames {
 public:
  virtual ~FunctionNames() = default;
  // `sample` says whose process it is, unless `waker`: then it is the waker's.
  virtual StackFrame name(const offcpud_sample& sample, const LocatedFrame& frame, bool waker) = 0;
};

// A snapshot whose entries lack the paths of their cgroups.
struct SnapshotDraft {
  Snapshot snapshot;
  std::vector<std::uint64_t> cgroup_ids;  // of snapshot.entries
};

// Time without a stack stays under a frame that says why.
SnapshotDraft draft_of(const SampledInterval& interval, FunctionNames& names);

}  // namespace offcpud
