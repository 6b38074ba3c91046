// SPDX-License-Identifier: Apache-2.0
#include "sampler/sample_window.h"

#include <algorithm>
#include <utility>

#include "stacks/block_share.h"

namespace offcpud {
namespace {

std::uint64_t nanoseconds_of(MonotonicTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

}  // namespace

std::uint64_t SampleWindow::weight_of(const offcpud_sample& sample) const {
  return is_snapshot() ? weight_in_series(sample, filter, nanoseconds_of(filter_since))
                       : weight_alone(sample, filter, nanoseconds_of(begin));
}

BlockSum* SampleWindow::add(SampledBlock block, std::uint64_t weight_ns) {
  offcpud_sample& sample = block.sample;
  // Keeps weight / ns, which is the number of episodes. If the last walk left nothing of the
  // block, its whole length has that ratio.
  const bool left_nothing = sample.weight_ns == 0;
  const std::uint64_t length_ns = sample.ended_ns - sample.since_ns;
  const std::uint64_t of_ns = left_nothing ? length_ns : sample.ns;
  const std::uint64_t stands_for_ns =
      left_nothing ? std::max<std::uint64_t>(sample.whole_ns, length_ns) : sample.weight_ns;
  const double share = static_cast<double>(weight_ns) / static_cast<double>(stands_for_ns);
  sample.ns = static_cast<std::uint64_t>(static_cast<double>(of_ns) * share);
  sample.weight_ns = weight_ns;
  cgroups.add(block.sample.cgroup_id);
  return stacks.add(block);
}

void SampleWindow::note_interval(const SampleChoice& choice) {
  ReasonIntervals longest = choice.intervals.longest();
  for (std::size_t kind = 0; kind < longest.size(); ++kind) {
    const bool wanted = ((filter.kinds >> kind) & 1U) != 0;
    if (!wanted) longest[kind] = std::chrono::nanoseconds(0);
    if (target()) longest[kind] = std::min(longest[kind], choice.target_interval);
  }
  keep_longer(sampling_intervals, longest);
}

SampledInterval SampleWindow::close(const Moment& at) {
  cgroups.retry();
  return {.begin = wall_begin,
          .end = at.wall,
          .ended = at.now,
          .duration = at.now - begin,
          .partial = at.now < due,
          .capture = capture,
          .cgroups = std::move(cgroups),
          .stacks = stacks.drain(),
          .lost_ns = lost_ns,
          .lost_of_any_ns = lost_of_any_ns,
          .sampling_intervals = sampling_intervals};
}

SampleChoice choice_for(const std::list<SampleWindow>& windows) {
  SampleChoice choice;
  for (const SampleWindow& window : windows) {
    BlockFilter wanted = window.filter;
    // A profile contains blocks in progress with their length so far, so they must be accounted.
    if (!window.is_snapshot()) wanted.max_ns = BlockFilter::kNoMaximum;
    choice.blocks.include(wanted);
    if (const auto target = window.target()) choice.targets.push_back(*target);
  }
  return choice;
}

}  // namespace offcpud
