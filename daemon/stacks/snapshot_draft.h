// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/exemplar.h"
#include "snapshot/snapshot.h"
#include "stacks/block_stacks.h"
#include "stacks/capture_rules.h"
#include "stacks/cgroup_names.h"

namespace offcpud {

// What was sampled in an interval, before names are looked up.
struct SampledInterval {
  WallTime begin, end;
  MonotonicTime ended;  // the same moment as `end`
  std::chrono::nanoseconds duration{0};
  bool partial = false;                         // ended before its time
  std::shared_ptr<const CaptureRules> capture;  // null: everything that was asked for
  std::shared_ptr<const CgroupNames> cgroups;
  BlockStacks::Cut cut;
  std::uint64_t lost_ns = 0;         // of samples that did not arrive
  std::uint64_t lost_of_any_ns = 0;  // the same, of which some may not have been asked for
  std::unordered_map<std::uint64_t, StackFrame> kernel_names;  // by return address
};

// Names of functions in programs, asked when a snapshot is made.
class FunctionNames {
 public:
  virtual ~FunctionNames() = default;
  // `sample` says whose process it is, unless `waker`: then it is the waker's.
  virtual StackFrame name(const offcpud_sample& sample, const LocatedFrame& frame, bool waker) = 0;
};

// The longest episode of an entry that has ended.
struct DraftExemplar {
  std::size_t entry = 0;
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  Exemplar exemplar;
};

// A snapshot whose entries lack the paths of their cgroups.
struct SnapshotDraft {
  Snapshot snapshot;
  std::vector<std::uint64_t> cgroup_ids;  // of snapshot.entries; 0: the time belongs to none
  std::vector<DraftExemplar> exemplars;   // of those entries that have one
  std::shared_ptr<const CaptureRules> capture;
  std::shared_ptr<const CgroupNames> cgroups;

  // Fills in the paths, and takes out what the rules leave out by them. `path_of` is asked for
  // those that nobody told so far. To be called once.
  void complete(const std::function<std::string(std::uint64_t cgroup_id)>& path_of);
};

// Time without a stack stays under a frame that says why.
SnapshotDraft draft_of(const SampledInterval& interval, FunctionNames& names);

}  // namespace offcpud
