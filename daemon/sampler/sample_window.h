// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "stacks/block_filter.h"
#include "stacks/cgroup_paths.h"
#include "stacks/sample_choice.h"
#include "stacks/sampled_snapshot.h"
#include "stacks/stack_sums.h"

namespace offcpud {

struct Moment {
  MonotonicTime now;
  WallTime wall;
};

// An interval whose sampled blocks are summed up: that of the next snapshot, or of a requested
// profile. Used by one thread.
struct SampleWindow {
  SampleWindow(StackSums room, CgroupPaths paths, const Moment& at, std::chrono::nanoseconds length)
      : begin(at.now),
        wall_begin(at.wall),
        due(begin + length),
        stacks(std::move(room)),
        cgroups(std::move(paths)) {}

  // A snapshot has rules; a profile has none.
  [[nodiscard]] bool is_snapshot() const { return capture != nullptr; }

  // Whether no later window will account the end of a block that is in progress now.
  [[nodiscard]] bool ends_for_good() const { return ends && !is_snapshot(); }

  // The one thread, or else process, that it samples; nullopt: all.
  [[nodiscard]] std::optional<std::uint32_t> target() const {
    return filter.tid ? filter.tid : filter.pid;
  }

  // Call it whenever the kernel's SampleChoice changes.
  void note_interval(const SampleChoice& choice);

  // How much of the sample's weight counts in this window, in nanoseconds.
  [[nodiscard]] std::uint64_t weight_of(const offcpud_sample& sample) const;

  // Adds the block with that weight. Returns its sum if it is new, for the caller to locate.
  BlockSum* add(SampledBlock block, std::uint64_t weight_ns);

  // Returns the sums up to that moment; afterwards the window is empty.
  SampledInterval close(const Moment& at);

  MonotonicTime begin;
  WallTime wall_begin;
  MonotonicTime due;
  bool ends = false;  // set when due; the window ends as soon as blocks in progress are accounted
  BlockFilter filter;
  std::shared_ptr<const CaptureRules> capture;
  MonotonicTime filter_since{};  // when the rules of a snapshot took effect
  StackSums stacks;
  std::uint64_t lost_ns = 0;
  std::uint64_t lost_of_any_ns = 0;      // lost, but perhaps not wanted by this window
  ReasonIntervals sampling_intervals{};  // the longest so far
  CgroupPaths cgroups;
  std::function<void(Result<SampledSnapshot>)> done;
};

// The blocks that any window wants, so that a profile also gets what snapshots exclude; each window
// filters them. Does not set the sampling intervals.
SampleChoice choice_for(const std::list<SampleWindow>& windows);

}  // namespace offcpud
