// SPDX-License-Identifier: Apache-2.0
#include "stacks/wait_sums.h"

#include <algorithm>

#include "stacks/block_share.h"

namespace offcpud {
namespace {

// The time of a block that has ended is in its sum.
void go_on(SeenBlock& block, const offcpud_sample& sample, std::uint64_t part_ns) {
  block.lasts = is_in_progress(sample);
  block.seen_ns = sample.ended_ns;
  if (block.lasts) block.going_on_ns += part_ns;
}

// Memory of one sum: its key is there twice.
std::size_t bytes_of(const SampledBlock& block) {
  constexpr std::size_t kNode = 64;  // of an unordered_map
  const std::size_t frames = block.kernel.size() + block.user.size();
  return kNode + sizeof(WaitSum) + 2 * (WaitSum::kKeyHead + frames) * sizeof(std::uint64_t) +
         block.user.size() * sizeof(LocatedFrame);
}

}  // namespace

WaitSums::Key WaitSums::key_of(const SampledBlock& block) {
  const offcpud_sample& sample = block.sample;
  const auto kernel_frames = static_cast<std::uint32_t>(block.kernel.size());
  Key key = {sample.process_start_ns, word_of(sample.tgid, sample.kind), sample.cgroup_id,
             word_of(sample.user_end << 16U | kernel_frames, sample.waited_on)};
  key.reserve(WaitSum::kKeyHead + block.kernel.size() + block.user.size());
  for (const auto frames : {block.kernel, block.user}) {
    key.insert(key.end(), frames.begin(), frames.end());
  }
  return key;
}

WaitSum* WaitSums::add(const SampledBlock& block) {
  const offcpud_sample& sample = block.sample;
  Key key = key_of(block);
  const auto known = places_.find(key);
  const bool is_new = known == places_.end();
  const bool has_room = sums_.size() < kMostSums && bytes_.take(is_new ? bytes_of(block) : 0);
  last_ = is_new ? SeenBlock::kKnown : known->second;
  if (is_new && has_room) {
    last_ = sums_.size();
    places_.emplace(key, last_);
    WaitSum& sum = sums_.emplace_back();
    sum.sample = sample;
    sum.sample.kernel_frames = static_cast<std::uint16_t>(block.kernel.size());
    sum.key = std::move(key);
  }
  if (!is_in_progress(sample)) {
    WaitTime& time =
        last_ == SeenBlock::kKnown ? overflow_times_[sample.cgroup_id] : sums_[last_].within;
    const std::uint64_t part_ns = within(sample);
    time.add(static_cast<double>(part_ns), static_cast<double>(weight_of_part(sample, part_ns)));
  }
  // No histogram counts a block whose beginning was not seen.
  const bool counts = !is_in_progress(sample) && (sample.flags & OFFCPUD_SAMPLE_CENSORED) == 0;
  const std::uint64_t length_ns = sample.ended_ns - sample.since_ns;
  if (counts && length_ns != 0) {
    WaitEstimate& waits =
        last_ == SeenBlock::kKnown ? overflow_[sample.cgroup_id] : sums_[last_].ended;
    waits.add(length_ns, sample.whole_ns);
    if (last_ != SeenBlock::kKnown) {
      WaitSum& sum = sums_[last_];
      ++sum.samples;
      sum.last_ended_ns = std::max<std::uint64_t>(sum.last_ended_ns, sample.ended_ns);
    }
  }
  return is_new && has_room ? &sums_[last_] : nullptr;
}

// The part of this sample that is within the window.
std::uint64_t WaitSums::within(const offcpud_sample& sample) const {
  if (sample.ended_ns <= begin_ns_) return 0;
  return std::min<std::uint64_t>(sample.ns, sample.ended_ns - begin_ns_);
}

void WaitSums::leave_out(const offcpud_sample& sample) {
  ++blocks_left_out_;
  if (is_in_progress(sample)) add_overflow(sample);  // else add() has counted its time
}

void WaitSums::add_overflow(const offcpud_sample& sample) {
  const auto part_ns = static_cast<double>(within(sample));
  overflow_times_[sample.cgroup_id].add(part_ns, part_ns);
}

void WaitSums::note(const offcpud_sample& sample) {
  if (last_ == SeenBlock::kKnown) {
    leave_out(sample);
  } else {
    note(sample, last_);
  }
}

void WaitSums::note_known(const offcpud_sample& sample) {
  note(sample, SeenBlock::kKnown);
}

void WaitSums::note_again(const offcpud_sample& sample) {
  const auto found = blocks_.find({sample.tid, static_cast<std::uint64_t>(sample.since_ns)});
  if (found != blocks_.end()) return go_on(found->second, sample, within(sample));
  add_overflow(sample);  // it was left out, and counted as such, when it was noted
}

void WaitSums::note_ended(const offcpud_sample& sample) {
  const auto found = blocks_.find({sample.tid, static_cast<std::uint64_t>(sample.since_ns)});
  if (found != blocks_.end()) go_on(found->second, sample, 0);
}

// The stack of a block that a walk saw and that has ended is the same.
void WaitSums::note(const offcpud_sample& sample, std::size_t sum) {
  const std::pair key(sample.tid, static_cast<std::uint64_t>(sample.since_ns));
  const auto found = blocks_.find(key);
  if (found != blocks_.end()) {
    if (found->second.sum == SeenBlock::kKnown) found->second.sum = sum;
    go_on(found->second, sample, within(sample));
    return;
  }
  if (blocks_.size() >= kMostBlocks) return leave_out(sample);
  SeenBlock block{.tid = sample.tid,
                  .tgid = sample.tgid,
                  .parent_tgid = sample.parent_tgid,
                  .waited_on = sample.waited_on,
                  .holder_tgid = sample.holder_tgid,
                  .since_ns = sample.since_ns,
                  .censored = (sample.flags & OFFCPUD_SAMPLE_CENSORED) != 0,
                  .sum = sum,
                  .local_tgid = sample.local_tgid,
                  .process_start_ns = sample.process_start_ns,
                  .cgroup_id = sample.cgroup_id,
                  .kind = sample.kind};
  go_on(block, sample, within(sample));
  blocks_.emplace(key, block);
}

WaitSums::Drained WaitSums::drain() {
  Drained drained;
  drained.sums = std::exchange(sums_, {});
  drained.blocks.reserve(blocks_.size());
  for (const auto& [key, block] : blocks_) drained.blocks.push_back(block);
  drained.overflow = std::exchange(overflow_, {});
  drained.overflow_times = std::exchange(overflow_times_, {});
  drained.blocks_left_out = std::exchange(blocks_left_out_, 0);
  drained.bytes = std::exchange(bytes_, ByteBudget::Share(budget_));
  places_.clear();
  blocks_.clear();
  last_ = SeenBlock::kKnown;
  return drained;
}

}  // namespace offcpud
