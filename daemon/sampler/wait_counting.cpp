// SPDX-License-Identifier: Apache-2.0
#include "sampler/wait_counting.h"

#include <bit>
#include <iterator>

namespace offcpud {
namespace {

// A walk over all sockets takes 2 us for each open file of the host. Blocks that waited on a
// process which nobody knows bring the next one forward.
constexpr std::chrono::seconds kWalkSocketsEvery{60}, kWalkSocketsSoonest{10};
constexpr std::chrono::milliseconds kWalkSocketsFor{2};  // at once

}  // namespace

WaitCounting::WaitCounting(const AddressLocator& addresses,
                           std::shared_ptr<const CgroupDirectory> cgroups,
                           const SamplerOptions& options, const Moment& at, ProcessOwners owners)
    : addresses_(addresses),
      directory_(std::move(cgroups)),
      begin_(at),
      due_since_(at.now),
      owners_(std::move(owners)),
      sums_([this](const WaitSums::Asked& process) { return owner_of(process); },
            std::make_shared<ByteBudget>(kMostBytes)),
      cgroups_(directory_) {
  set_options(options);
  begin_sums();
}

void WaitCounting::begin_sums() {
  sums_.begin_at(static_cast<std::uint64_t>(begin_.now.time_since_epoch().count()));
  owners_.allow(kMostAsked + kMostHoldersAsked);
}

ShareOwner WaitCounting::owner_of(const WaitSums::Asked& process) {
  return owners_.of(process.local_tgid, process.process_start_ns, process.wants ? 0 : kMostAsked);
}

void WaitCounting::set_options(const SamplerOptions& options) {
  length_ = options.window;
  kinds_ = options.capture->blocks.kinds;
  all_kinds_ = all_kinds_ && kinds_ == BlockFilter{}.kinds;
  long_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.long_block).count());
}

BlockFilter WaitCounting::filter() const {
  BlockFilter filter;
  filter.kinds = kinds_;
  return filter;
}

WaitPeer WaitCounting::peer_of(const SampledBlock& block) {
  const std::chrono::nanoseconds ended(block.sample.ended_ns);
  return peers_.resolve(block.sample, block.peer, MonotonicTime(ended));
}

// If nobody ended a wait, as when its thread is killed, the last look may have known who held its
// lock.
WaitPeer WaitCounting::peer_of_ended(const SampledBlock& block) {
  WaitPeer peer = peer_of(block);
  if (peer.kind != WaitPeer::Kind::Unknown) return peer;
  const auto held = last_holders_.find({block.sample.tid, block.sample.since_ns});
  return held != last_holders_.end() ? held->second->as_peer() : peer;
}

Status WaitCounting::follow_sockets(StackSource& kernel, MonotonicTime now) {
  if (!walks_sockets_) {
    const auto age = now - sockets_walked_;
    const bool is_first = sockets_walked_ == MonotonicTime{};
    if (!is_first && age < kWalkSocketsSoonest) return {};
    if (!is_first && age < kWalkSocketsEvery && !peers_.take_missed()) return {};
    walks_sockets_ = true;
    sockets_walked_ = now;
  }
  auto walked = kernel.walk_sockets(kWalkSocketsFor);
  walks_sockets_ = walked && *walked == nullptr;
  if (!walked) return walked.error();
  if (!*walked) return {};
  sockets_left_out_ += (*walked)->left_out();
  peers_.use(*std::move(walked));
  return {};
}

void WaitCounting::add(const SampledBlock& block, const WaitPeer& peer) {
  const offcpud_sample& sample = block.sample;
  cgroups_.add(sample.cgroup_id);
  if (peer.process.exists()) cgroups_.add(peer.process.cgroup_id);
  if (WaitSum* const sum = sums_.add(block, peer)) {
    sum->user = addresses_.locate(sample.local_tgid, sample.ended_ns, block.user);
  }
}

void WaitCounting::add_ended(const SampledBlock& block) {
  const offcpud_sample& sample = block.sample;
  if (!filter().matches(sample)) return;
  const WaitPeer peer = peer_of_ended(block);
  add(block, peer);
  if (sample.ended_ns - sample.since_ns >= long_ns_) {
    sums_.note(sample, peer);
  } else {
    sums_.note_ended(sample);
  }
}

// A blocked thread does not move, so one window gets its stack. So do the second, fourth, eighth
// ... window, because the first walk of a stack may fail, and files of functions may be read too
// late for the first window. And so does a window in which the files that it waits on say something
// else: an idle loop asks somebody, and its wait goes on.
void WaitCounting::add_lasting(const SampledBlock& block) {
  const offcpud_sample& sample = block.sample;
  if (!filter().matches(sample)) return;
  cgroups_.add(sample.cgroup_id);
  const std::pair key(sample.tid, static_cast<std::uint64_t>(sample.since_ns));
  if (told_.size() >= kMostTold) forget_left_out();
  Told& told = told_[key];
  if (std::exchange(told.now, true)) return sums_.note_again(sample);
  const bool is_new = std::exchange(told.waited_on, sample.waited_on) != sample.waited_on;
  const WaitPeer peer = peer_of(block);
  if (!std::has_single_bit(++told.windows) && !is_new) {
    if (peer.process.exists()) cgroups_.add(peer.process.cgroup_id);
    return sums_.note_known(sample, peer);
  }
  add(block, peer);
  sums_.note(sample, peer);
}

void WaitCounting::set_holders(HeldBlocks holders, UnheldBlocks unheld) {
  for (const auto& [block, holder] : holders) cgroups_.add(holder->process.cgroup_id);
  holders_ = std::move(holders);
  unheld_ = std::move(unheld);
}

// With a long switch interval (sys.setswitchinterval), blocks of those who wait for the GIL last.
void WaitCounting::set_gil_waits(std::vector<GilWait> waits) {
  for (const GilWait& wait : waits) {
    cgroups_.add(wait.cgroup_id);
    if (!wait.holder) continue;
    cgroups_.add(wait.holder->process.cgroup_id);
    holders_.emplace(std::pair(wait.tid, wait.block_ns), wait.holder);
  }
  gil_waits_ = std::move(waits);
}

void WaitCounting::add_lost(const LostSamples& lost) {
  lost_.ns += lost.ns;
  lost_.whole_ns += lost.whole_ns;
}

// Blocks come and go while the window cannot end. Those without room are counted.
void WaitCounting::forget_left_out() {
  std::erase_if(told_, [this](const auto& item) {
    return item.second.now && !sums_.has_noted(item.first.first, item.first.second);
  });
}

// The next window gets the stacks of those that found no room.
void WaitCounting::keep_noted(const WaitSums::Drained& waits) {
  auto noted = waits.blocks.begin();
  for (auto told = told_.begin(); told != told_.end();) {
    const auto key_of = [](const SeenBlock& block) { return std::pair(block.tid, block.since_ns); };
    while (noted != waits.blocks.end() && key_of(*noted) < told->first) ++noted;
    const bool has_room = noted != waits.blocks.end() && key_of(*noted) == told->first;
    const bool was_now = std::exchange(told->second.now, false);
    told = was_now && has_room ? std::next(told) : told_.erase(told);
  }
}

WaitInterval WaitCounting::close(const Moment& at) {
  cgroups_.retry();
  due_since_ = at.now;
  const Moment begin = std::exchange(begin_, at);
  const LostSamples lost = std::exchange(lost_, {});
  WaitSums::Drained waits = sums_.drain();
  waits.ended_are_all = waits.ended_are_all && all_kinds_ && lost.ns == 0 && lost.whole_ns == 0;
  all_kinds_ = kinds_ == BlockFilter{}.kinds;
  keep_noted(waits);
  begin_sums();
  last_holders_ = holders_;
  return {.begin = begin.wall,
          .begin_at = begin.now,
          .end_at = at.now,
          .cgroups = std::exchange(cgroups_, CgroupPaths(directory_)),
          .waits = std::move(waits),
          .lost_ns = lost.whole_ns,
          .lost_within_ns = lost.ns,
          .holders = std::exchange(holders_, {}),
          .unheld = std::exchange(unheld_, {}),
          .gil_waits = std::exchange(gil_waits_, {})};
}

}  // namespace offcpud
