// SPDX-License-Identifier: Apache-2.0
#include "stacks/wait_sums.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "peers/peer_of.h"
#include "stacks/block_share.h"

namespace offcpud {
namespace {

// The time of a block that has ended is in its sum.
void go_on(SeenBlock& block, const offcpud_sample& sample, std::uint64_t part_ns) {
  block.lasts = is_in_progress(sample);
  block.seen_ns = sample.ended_ns;
  if (block.lasts) block.going_on_ns += part_ns;
}

// The number in the daemon's PID namespace, and the start.
std::pair<std::uint32_t, std::uint64_t> process_of(const auto& of) {
  return {of.local_tgid, of.process_start_ns};
}

// Memory of one sum: its key is there twice.
std::size_t bytes_of(std::size_t kernel_frames, std::size_t user_frames) {
  constexpr std::size_t kNode = 64;  // of an unordered_map
  const std::size_t words = WaitSum::kKeyHead + kernel_frames + user_frames;
  return kNode + sizeof(WaitSum) + 2 * words * sizeof(std::uint64_t) +
         user_frames * sizeof(LocatedFrame);
}

std::size_t bytes_of(const WaitSum& sum) {
  const std::size_t kernel_frames = sum.sample.kernel_frames;
  return bytes_of(kernel_frames, sum.key.size() - WaitSum::kKeyHead - kernel_frames) +
         sum.peers.bytes() + (sum.interpreted ? sum.interpreted->bytes() : 0);
}

// All that a window notes has this time, so that a process that must give way does not replace what
// it has noted by what it notes now.
constexpr MonotonicTime kInWindow{};

}  // namespace

WaitSums::Key WaitSums::key_of(const SampledBlock& block) {
  const offcpud_sample& sample = block.sample;
  const auto kernel_frames = static_cast<std::uint32_t>(block.kernel.size());
  Key key = {sample.process_start_ns, word_of(sample.tgid, sample.kind), sample.cgroup_id,
             word_of(sample.user_end << 16U | kernel_frames, sample.waited_on),
             block.interpreted_id()};
  key.reserve(WaitSum::kKeyHead + block.kernel.size() + block.user.size());
  for (const auto frames : {block.kernel, block.user}) {
    key.insert(key.end(), frames.begin(), frames.end());
  }
  return key;
}

WaitSum* WaitSums::add(const SampledBlock& block, const WaitPeer& peer) {
  const offcpud_sample& sample = block.sample;
  Key key = key_of(block);
  const auto known = places_.find(key);
  const bool is_new = known == places_.end();
  last_ = is_new ? SeenBlock::kKnown : known->second;
  WaitSum* const added = is_new ? add_sum(block, std::move(key)) : nullptr;
  PeerTime* const on = last_ == SeenBlock::kKnown || is_in_progress(sample)
                           ? nullptr
                           : &sums_[last_].peers.of(peer, bytes_);
  if (!is_in_progress(sample)) {
    WaitTime& time =
        last_ == SeenBlock::kKnown ? overflow_times_[sample.cgroup_id] : sums_[last_].within;
    const std::uint64_t part_ns = within(sample);
    WaitTime part;
    part.add(static_cast<double>(part_ns), static_cast<double>(weight_of_part(sample, part_ns)));
    time += part;
    if (on != nullptr) on->within += part;
  }
  // No histogram counts a block whose beginning was not seen.
  const bool counts = !is_in_progress(sample) && (sample.flags & OFFCPUD_SAMPLE_CENSORED) == 0;
  const std::uint64_t length_ns = sample.ended_ns - sample.since_ns;
  if (counts && length_ns != 0) {
    WaitEstimate& waits =
        last_ == SeenBlock::kKnown ? overflow_[sample.cgroup_id] : sums_[last_].ended;
    waits.add(length_ns, sample.whole_ns);
    if (on != nullptr) {
      on->ended.add(static_cast<double>(length_ns),
                    static_cast<double>(std::max<std::uint64_t>(length_ns, sample.whole_ns)));
    }
    if (last_ != SeenBlock::kKnown) {
      WaitSum& sum = sums_[last_];
      ++sum.samples;
      sum.last_ended_ns = std::max<std::uint64_t>(sum.last_ended_ns, sample.ended_ns);
    }
  }
  if (!is_in_progress(sample) && length_ns != 0) keep_ended(block, peer);
  return added;
}

// Also one whose beginning was not seen: its thread did nothing else for as long as anybody knows.
void WaitSums::keep_ended(const SampledBlock& block, const WaitPeer& peer) {
  const offcpud_sample& sample = block.sample;
  if (last_ == SeenBlock::kKnown || ended_.size() >= kMostEnded) {
    ended_are_all_ = false;
    return;
  }
  const auto length_ns = static_cast<double>(sample.ended_ns - sample.since_ns);
  const bool censored = (sample.flags & OFFCPUD_SAMPLE_CENSORED) != 0;
  EndedBlock kept{.tid = sample.tid,
                  .tgid = sample.tgid,
                  .since_ns = censored ? 0 : sample.since_ns,
                  .ended_ns = sample.ended_ns,
                  .stands_for = std::max(1.0, static_cast<double>(sample.whole_ns) / length_ns),
                  .sum = last_,
                  .peer = peer,
                  .ender = ender_of(sample, block.peer),
                  .past = past_blocks_of(peer, block.past, sample.since_ns)};
  if ((block.peer.flags & OFFCPUD_PEER_ENDED) != 0 && block.peer.tgid != 0) {
    kept.by = process_of(block.peer);
    kept.by_tid = block.peer.tid;
    std::ranges::copy(sample.waker_comm, kept.by_thread.begin());
    kept.by_thread.back() = '\0';
  }
  ended_.push_back({std::move(kept), serials_[last_]});
}

ShareOwner WaitSums::owner_of(const offcpud_sample& sample) const {
  return owner_of_({sample.local_tgid, sample.process_start_ns, true});
}

// Null: it has no room.
WaitSum* WaitSums::add_sum(const SampledBlock& block, Key key) {
  if (!make_room_for_sum(block)) return nullptr;
  const offcpud_sample& sample = block.sample;
  last_ = sum_shares_ ? sum_shares_->take(sample.tgid, owner_of(sample), kInWindow) : sums_.size();
  if (last_ == sums_.size()) {
    sums_.emplace_back();
    serials_.push_back(0);
  }
  places_.emplace(key, last_);
  WaitSum& sum = sums_[last_];
  sum.sample = sample;
  sum.sample.kernel_frames = static_cast<std::uint16_t>(block.kernel.size());
  sum.key = std::move(key);
  sum.interpreted = block.interpreted;
  return &sum;
}

// At most one stack gives way for another one: if windows that wait for names hold all bytes,
// dropping more would not help.
bool WaitSums::make_room_for_sum(const SampledBlock& block) {
  const std::size_t bytes =
      bytes_of(block.kernel.size(), block.user.size()) + block.interpreted_bytes();
  if (places_.size() < kMostSums && bytes_.take(bytes)) return true;
  rank_sums();
  const auto gone =
      sum_shares_->who_gives_way(block.sample.tgid, owner_of(block.sample), kInWindow);
  if (!gone) return false;
  drop_sum(*gone);
  return bytes_.take(bytes);
}

bool WaitSums::make_room_for_block(const offcpud_sample& sample) {
  if (blocks_.size() < kMostBlocks) return true;
  rank_blocks();
  const auto gone = block_shares_->who_gives_way(sample.tgid, owner_of(sample), kInWindow);
  if (gone) drop_block(*gone);
  return gone.has_value();
}

// Looks up the owners of the largest processes first, because not all of thousands are looked up.
// Processes of unknown owners share the room of one user.
WaitSums::Owners WaitSums::owners_of(const std::map<Process, std::size_t>& held) const {
  std::vector<std::pair<std::size_t, Process>> largest;
  largest.reserve(held.size());
  for (const auto& [process, count] : held) largest.emplace_back(count, process);
  std::ranges::sort(largest, std::greater());
  Owners owners;
  for (const auto& [count, process] : largest) {
    owners.emplace(process, owner_of_({process.first, process.second}));
  }
  return owners;
}

// Slots are the places in sums_.
void WaitSums::rank_sums() {
  if (sum_shares_) return;
  std::map<Process, std::size_t> held;
  for (const WaitSum& sum : sums_) ++held[process_of(sum.sample)];
  const Owners owners = owners_of(held);
  sum_shares_.emplace(kMostSums);
  for (const WaitSum& sum : sums_) {
    sum_shares_->take(sum.sample.tgid, owners.at(process_of(sum.sample)), kInWindow);
  }
}

void WaitSums::rank_blocks() {
  if (block_shares_) return;
  std::map<Process, std::size_t> held;
  for (const auto& [key, noted] : blocks_) ++held[process_of(noted.block)];
  const Owners owners = owners_of(held);
  block_shares_.emplace(kMostBlocks);
  for (const auto& [key, noted] : blocks_) {
    block_shares_->take(noted.block.tgid, owners.at(process_of(noted.block)), kInWindow);
    block_at_.push_back(key);
  }
}

void WaitSums::drop_sum(std::size_t place) {
  WaitSum& sum = sums_[place];
  const std::uint64_t cgroup_id = sum.sample.cgroup_id;
  overflow_times_[cgroup_id] += sum.within;
  if (!sum.ended.slots.empty()) overflow_[cgroup_id] += sum.ended;
  bytes_.give_back(bytes_of(sum));
  places_.erase(sum.key);
  sum = {};
  ++serials_[place];
  sum_shares_->give_back(static_cast<ShareSlots::Slot>(place));
}

void WaitSums::drop_block(ShareSlots::Slot slot) {
  const auto gone = blocks_.find(block_at_[slot]);
  leave_out(gone->second.block);
  blocks_.erase(gone);
  block_shares_->give_back(slot);
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

void WaitSums::leave_out(const SeenBlock& block) {
  ++blocks_left_out_;
  const auto part_ns = static_cast<double>(block.going_on_ns);
  overflow_times_[block.cgroup_id].add(part_ns, part_ns);
}

void WaitSums::add_overflow(const offcpud_sample& sample) {
  const auto part_ns = static_cast<double>(within(sample));
  overflow_times_[sample.cgroup_id].add(part_ns, part_ns);
}

void WaitSums::note(const offcpud_sample& sample, const WaitPeer& peer) {
  if (last_ == SeenBlock::kKnown) {
    leave_out(sample);
  } else {
    note_at(sample, peer, last_);
  }
}

void WaitSums::note_known(const offcpud_sample& sample, const WaitPeer& peer) {
  note_at(sample, peer, SeenBlock::kKnown);
}

void WaitSums::note_again(const offcpud_sample& sample) {
  const auto found = blocks_.find({sample.tid, static_cast<std::uint64_t>(sample.since_ns)});
  if (found != blocks_.end()) return go_on(found->second.block, sample, within(sample));
  add_overflow(sample);  // it was counted as left out when it was noted
}

void WaitSums::note_ended(const offcpud_sample& sample) {
  const auto found = blocks_.find({sample.tid, static_cast<std::uint64_t>(sample.since_ns)});
  if (found != blocks_.end()) go_on(found->second.block, sample, 0);
}

// The stack of an ended block is the same as when a walk saw it.
void WaitSums::note_at(const offcpud_sample& sample, const WaitPeer& peer, std::size_t sum) {
  const BlockKey key(sample.tid, sample.since_ns);
  const std::uint32_t serial = sum == SeenBlock::kKnown ? 0 : serials_[sum];
  const auto found = blocks_.find(key);
  if (found != blocks_.end()) {
    Noted& noted = found->second;
    const std::size_t known = noted.block.sum;
    if (known == SeenBlock::kKnown || serials_[known] != noted.serial) {
      noted.block.sum = sum;
      noted.serial = serial;
    }
    noted.block.peer = peer;
    return go_on(noted.block, sample, within(sample));
  }
  if (!make_room_for_block(sample)) return leave_out(sample);
  SeenBlock block{.tid = sample.tid,
                  .tgid = sample.tgid,
                  .parent_tgid = sample.parent_tgid,
                  .waited_on = sample.waited_on,
                  .holder_tgid = sample.holder_tgid,
                  .since_ns = sample.since_ns,
                  .censored = (sample.flags & OFFCPUD_SAMPLE_CENSORED) != 0,
                  .asleep_ns = sample.asleep_ns,
                  .sum = sum,
                  .local_tgid = sample.local_tgid,
                  .process_start_ns = sample.process_start_ns,
                  .cgroup_id = sample.cgroup_id,
                  .kind = sample.kind,
                  .peer = peer};
  go_on(block, sample, within(sample));
  blocks_.emplace(key, Noted{block, serial});
  if (!block_shares_) return;
  const auto slot = block_shares_->take(sample.tgid, owner_of(sample), kInWindow);
  block_at_.resize(std::max<std::size_t>(block_at_.size(), slot + 1));
  block_at_[slot] = key;
}

WaitSums::Drained WaitSums::drain() {
  Drained drained;
  const std::vector<std::size_t> moved = move_sums(drained);
  move_ended(drained, moved);
  move_blocks(drained, moved);
  drained.overflow = std::exchange(overflow_, {});
  drained.overflow_times = std::exchange(overflow_times_, {});
  drained.blocks_left_out = std::exchange(blocks_left_out_, 0);
  drained.bytes = std::exchange(bytes_, ByteBudget::Share(budget_));
  sum_shares_.reset();
  block_shares_.reset();
  block_at_.clear();
  last_ = SeenBlock::kKnown;
  return drained;
}

// Leaves out those that gave way, whose places are empty. Returns the new places.
std::vector<std::size_t> WaitSums::move_sums(Drained& drained) {
  std::vector<std::size_t> moved(sums_.size(), SeenBlock::kKnown);
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].key.empty()) continue;
    moved[i] = drained.sums.size();
    drained.sums.push_back(std::move(sums_[i]));
  }
  sums_.clear();
  places_.clear();
  return moved;
}

void WaitSums::move_ended(Drained& drained, const std::vector<std::size_t>& moved) {
  drained.ended_are_all = std::exchange(ended_are_all_, true);
  drained.ended.reserve(ended_.size());
  for (Ended& each : std::exchange(ended_, {})) {
    if (serials_[each.block.sum] != each.serial) {
      drained.ended_are_all = false;
      continue;
    }
    each.block.sum = moved[each.block.sum];
    drained.ended.push_back(each.block);
  }
}

// Without those whose sum gave way.
void WaitSums::move_blocks(Drained& drained, const std::vector<std::size_t>& moved) {
  drained.blocks.reserve(blocks_.size());
  for (auto& [key, noted] : blocks_) {
    SeenBlock& block = noted.block;
    const bool has_sum = block.sum != SeenBlock::kKnown;
    if (has_sum && serials_[block.sum] != noted.serial) {
      leave_out(block);
      continue;
    }
    if (has_sum) block.sum = moved[block.sum];
    drained.blocks.push_back(block);
  }
  blocks_.clear();
  serials_.clear();
}

}  // namespace offcpud
