// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "base/clock.h"
#include "sampling/block_filter.h"
#include "sampling/snapshot_draft.h"

namespace offcpud {

// An interval whose samples are added up. Of one thread.
struct SampleWindow {
  SampleWindow(std::size_t most, const Clock& clock, std::chrono::nanoseconds length)
      : begin(clock.now()), wall_begin(clock.wall()), due(begin + length), stacks(most) {}

  // What it holds, up to now.
  SampledInterval close(const Clock& clock) {
    SampledInterval interval;
    const MonotonicTime now = clock.now();
    interval.begin = wall_begin;
    interval.end = clock.wall();
    interval.duration = now - begin;
    interval.partial = now < due;
    interval.cut = stacks.cut();
    interval.lost_ns = std::exchange(lost_ns, 0);
    return interval;
  }

  MonotonicTime begin;
  WallTime wall_begin;
  MonotonicTime due;
  BlockFilter filter;
  BlockStacks stacks;
  std::uint64_t lost_ns = 0;
  std::function<void(SnapshotDraft)> done;
};

}  // namespace offcpud
