// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "sampling/block_filter.h"
#include "sampling/snapshot_draft.h"

namespace offcpud {

struct Moment {
  MonotonicTime now;
  WallTime wall;
};

// An interval whose samples are added up. Of one thread.
struct SampleWindow {
  SampleWindow(std::size_t most, const Moment& at, std::chrono::nanoseconds length)
      : begin(at.now), wall_begin(at.wall), due(begin + length), stacks(most) {}

  // What it holds, up to that moment.
  SampledInterval close(const Moment& at) {
    SampledInterval interval;
    interval.begin = wall_begin;
    interval.end = at.wall;
    interval.duration = at.now - begin;
    interval.partial = at.now < due;
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
  std::function<void(Result<SnapshotDraft>)> done;
};

}  // namespace offcpud
