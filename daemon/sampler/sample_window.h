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

// An interval whose sampled blocks are added up: of the next snapshot, or of a profile that
// somebody asked for. Used by one thread.
struct SampleWindow {
  SampleWindow(StackSums room, CgroupPaths paths, const Moment& at, std::chrono::nanoseconds length)
      : begin(at.now),
        wall_begin(at.wall),
        due(begin + length),
        stacks(std::move(room)),
        cgroups(std::move(paths)) {}

  // A snapshot has rules, a profile has none.
  [[nodiscard]] bool is_snapshot() const { return capture != nullptr; }

  // No window after this one will hold what is in progress now once it has ended.
  [[nodiscard]] bool ends_for_good() const { return ends && !is_snapshot(); }

  // The thread, or else the process, that it is about alone. The thread is in the process.
  [[nodiscard]] std::optional<std::uint32_t> focus() const {
    return filter.tid ? filter.tid : filter.pid;
  }

  // To be called whenever the kernel samples by another choice.
  void note_interval(const SampleChoice& choice);

  // How much of the sample's weight belongs into this window, in nanoseconds.
  [[nodiscard]] std::uint64_t weight_of(const offcpud_sample& sample) const;

  // Adds the block with that weight. Returns its sum if that is new, for the caller to locate.
  BlockSum* add(SampledBlock block, std::uint64_t weight_ns);

  // What it holds, up to that moment. It is empty then.
  SampledInterval close(const Moment& at);

  MonotonicTime begin;
  WallTime wall_begin;
  MonotonicTime due;
  bool ends = false;  // as soon as blocks in progress are accounted
  BlockFilter filter;
  std::shared_ptr<const CaptureRules> capture;
  MonotonicTime filter_since{};  // when the rules of a snapshot came into force
  StackSums stacks;
  std::uint64_t lost_ns = 0;
  std::uint64_t lost_of_any_ns = 0;               // the window may not have wanted these
  std::chrono::nanoseconds sampling_interval{0};  // the longest so far
  CgroupPaths cgroups;
  std::function<void(Result<SampledSnapshot>)> done;
};

// The blocks that any of the windows wants, so that a profile also gets what snapshots leave out;
// each window takes its own from these. Leaves the intervals as they are.
SampleChoice choice_for(const std::list<SampleWindow>& windows);

}  // namespace offcpud
