// SPDX-License-Identifier: Apache-2.0
#include "sampler/site_classes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "base/word_hash.h"
#include "sites/file_evidence.h"
#include "unwind.h"

namespace offcpud {
namespace {

std::uint64_t name_hash(const StackFrame& frame) {
  return hash_joined(std::hash<std::string>()(frame.function),
                     std::hash<std::string>()(frame.object));
}

// Who ended the blocks of a sum.
WaitEnd end_of(const offcpud_sample& sample, bool own_timer) {
  if (is_in_progress(sample) || sample.waker >= OFFCPUD_WAKERS) return WaitEnd::None;
  if (own_timer) return WaitEnd::OwnTimer;
  const bool is_thread =
      sample.waker == OFFCPUD_FROM_SAME_CGROUP || sample.waker == OFFCPUD_FROM_OTHER_CGROUP;
  return is_thread ? WaitEnd::Thread : WaitEnd::Other;
}

}  // namespace

void SiteClasses::number(const Snapshot& snapshot, std::span<const std::uint32_t> frames,
                         std::vector<FrameKind>& kinds) {
  kinds.clear();
  known_.resize(snapshot.frames.size());
  for (const std::uint32_t id : frames) {
    KnownFrame& known = known_[id];
    if (known.kind == 0) {
      const StackFrame& frame = snapshot.frames[id];
      known.kind = 1 + (frame.kernel ? classifier_.kernel_frame(frame.function)
                                     : classifier_.user_frame({frame.function, frame.object}));
      known.name = name_hash(frame);
    }
    kinds.push_back(known.kind - 1);
  }
}

// The executable is known by the name of its process only, which is what `explain-stack` finds in
// an answer in JSON, too.
void SiteClasses::classify(const Snapshot& snapshot, StackEntry& entry, const BlockSum& sum,
                           bool own_timer) {
  number(snapshot, entry.user, user_);
  number(snapshot, entry.kernel, kernel_);
  const WaitClass found = classifier_.classify({.exe = classifier_.executable(entry.comm),
                                                .reason = entry.reason,
                                                .user = user_,
                                                .kernel = kernel_});
  entry.wait_for = found.wait_for;
  entry.site = found.site;

  const auto by = by_files(found.ask, sum.sample.waited_on);
  if (by) entry.wait_for = by->wait_for;
  const bool by_wakers = !by && asks_for_wakers(found.ask);
  const std::uint64_t place = by_wakers ? place_of(entry, sum) : 0;
  if (place != 0) {
    asking_.push_back({.entry = snapshot.entries.size(),
                       .ask = found.ask,
                       .first = waits_.size(),
                       .count = sum.pairs.size()});
  }
  if (evidence_.learns) evidence_.evidence.add_left_out(sum.pairs_left_out);
  const offcpud_sample& sample = sum.sample;
  for (const WakePair& pair : sum.pairs) {
    waits_.push_back({.at = {.tgid = sample.tgid,
                             .tid = pair.tid,
                             .process_start_ns = sample.process_start_ns,
                             .place = place},
                      .wait_for = found.wait_for,
                      .end = end_of(sample, own_timer),
                      .waker_tgid = sample.waker_tgid,
                      .waker_tid = pair.waker_tid,
                      .samples = pair.samples,
                      .ns = pair.ns,
                      .episodes = pair.episodes});
  }
}

// By names, so that all calls of a function are one place. Stacks that break off look alike where
// the threads are at different places, so they have none.
std::uint64_t SiteClasses::place_of(const StackEntry& entry, const BlockSum& sum) const {
  const bool is_whole = sum.sample.user_end == OFFCPUD_UNWIND_END_ROOT ||
                        sum.sample.user_end == OFFCPUD_UNWIND_END_DEPTH;
  if (!is_whole || entry.user.empty()) return 0;
  std::uint64_t hash = hash_joined(kHashBasis, entry.reason);
  for (const std::uint32_t id : entry.user) hash = hash_joined(hash, known_[id].name);
  return std::max<std::uint64_t>(hash, 1);
}

void SiteClasses::decide(Snapshot& snapshot) {
  if (evidence_.learns) evidence_.evidence.learn(waits_, evidence_.now);
  for (const EntryWaits& each : asking_) {
    if (each.count == 0) continue;
    snapshot.entries[each.entry].wait_for = judge(each);
  }
}

WaitFor SiteClasses::judge(const EntryWaits& entry) const {
  std::array<double, kWaitForNames.size()> time{};
  for (const SeenWaits& each : std::span(waits_).subspan(entry.first, entry.count)) {
    const auto by_wakers = evidence_.evidence.judge(each.at, each.wait_for, evidence_.now);
    const auto verdict = as_asked(entry.ask, by_wakers, each.wait_for);
    time[static_cast<std::size_t>(verdict.wait_for)] += each.ns;
  }
  return static_cast<WaitFor>(std::ranges::max_element(time) - time.begin());
}

}  // namespace offcpud
