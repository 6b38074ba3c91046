// SPDX-License-Identifier: Apache-2.0
#include "sampler/site_classes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "sampler/lock_function.h"
#include "sampler/named_past.h"
#include "sites/file_evidence.h"

namespace offcpud {
namespace {

WaitFor most_of(const PlaceClasses::Times& times) {
  return static_cast<WaitFor>(std::ranges::max_element(times) - times.begin());
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
      known.part = PlaceNumber::part_of(frame);
    }
    kinds.push_back(known.kind - 1);
  }
}

void SiteClasses::number_interpreted(const InterpretedStack* stack) {
  interpreted_.clear();
  if (stack == nullptr) return;
  for (auto frame = stack->frames.rbegin(); frame != stack->frames.rend(); ++frame) {
    interpreted_.push_back(classifier_.interpreted_frame(frame->function));
  }
}

// The executable is known by the name of its process only, which is what `explain-stack` finds in
// an answer in JSON, too.
void SiteClasses::classify(const Snapshot& snapshot, StackEntry& entry, const BlockSum& sum,
                           bool own_timer) {
  number(snapshot, entry.user, user_);
  number(snapshot, entry.kernel, kernel_);
  if (lacks_lock_function(sum.sample)) kernel_.push_back(classifier_.kernel_frame(kLockFunction));
  number_interpreted(sum.interpreted.get());
  const WaitClass found = classifier_.classify({.exe = classifier_.executable(entry.comm),
                                                .reason = entry.reason,
                                                .user = user_,
                                                .kernel = kernel_,
                                                .interpreted = interpreted_});
  entry.wait_for = found.wait_for;
  entry.site = found.site;
  const PlaceNumber stack = place_of(entry, sum);
  ProcessPlace at{.tgid = sum.sample.tgid,
                  .process_start_ns = sum.sample.process_start_ns,
                  .place = stack.number(is_place(sum.sample.user_end))};
  if (evidence_.learns && !interpreted_.empty()) note_named(entry, at, sum);

  const auto by = by_files(found.ask, sum.sample.waited_on);
  if (by) entry.wait_for = by->wait_for;
  const bool is_open = !by && found.ask != SiteQuestion::None;
  if (!is_open && !is_sole_answer(by)) at.place = 0;
  const Times* const by_past =
      is_sole_answer(by) && at.place != 0 ? said_of(place_of_answers(at)) : nullptr;
  if (by_past != nullptr) entry.wait_for = most_of(*by_past);
  const Times* const by_chains = is_open && asks_for_chains(found.ask) ? said_of(at) : nullptr;
  if (by_chains != nullptr) entry.wait_for = most_of(*by_chains);
  const bool by_wakers =
      is_open && by_chains == nullptr && asks_for_wakers(found.ask) && at.place != 0;
  if (by_wakers) {
    asking_.push_back({.entry = snapshot.entries.size(),
                       .ask = found.ask,
                       .at = at,
                       .first = waits_.size(),
                       .count = sum.pairs.size()});
    if (evidence_.learns && interpreted_.empty()) note_unnamed(at, sum);
  }
  add_waits(sum, {.at = {.tgid = at.tgid,
                         .process_start_ns = at.process_start_ns,
                         .owner = evidence_.owners.of(sum.sample),
                         .place = by_wakers ? at.place : 0,
                         .caller = stack.caller()},
                  .site = found.site.empty() ? 0 : std::hash<std::string_view>{}(found.site),
                  .wait_for = found.wait_for,
                  .certain = found.certain,
                  .named = !interpreted_.empty(),
                  .hands_over = found.ask == SiteQuestion::Handover,
                  .has_library = stack.has_library(),
                  .end = end_of(sum.sample, own_timer),
                  .waker_tgid = sum.sample.waker_tgid});
}

// `all`: what all waits of the sum have in common.
void SiteClasses::add_waits(const BlockSum& sum, const SeenWaits& all) {
  if (evidence_.learns) evidence_.evidence.add_left_out(sum.pairs_left_out);
  for (const WakePair& pair : sum.pairs) {
    SeenWaits& waits = waits_.emplace_back(all);
    waits.at.tid = pair.tid;
    waits.waker_tid = pair.waker_tid;
    waits.samples = pair.samples;
    waits.ns = pair.ns;
    waits.whole_ns = pair.whole_ns;
    waits.variance_ns2 = pair.variance_ns2;
    waits.episodes = pair.episodes;
  }
}

// Only of places where wakers are asked about waits without such functions.
void SiteClasses::note_named(const StackEntry& entry, const ProcessPlace& at, const BlockSum& sum) {
  if (at.place == 0) return;
  const WaitClass unnamed = classifier_.classify({.exe = classifier_.executable(entry.comm),
                                                  .reason = entry.reason,
                                                  .user = user_,
                                                  .kernel = kernel_});
  if (unnamed.ask != SiteQuestion::Waker && unnamed.ask != SiteQuestion::Handover) return;
  const ShareOwner owner = evidence_.owners.of(sum.sample);
  for (const WakePair& pair : sum.pairs) {
    NamedWaits& named = named_[place_of_thread(at, pair.tid, classifier_.generation())];
    named.owner = owner;
    named.times[static_cast<std::size_t>(entry.wait_for)] += pair.whole_ns;
  }
}

void SiteClasses::note_unnamed(const ProcessPlace& at, const BlockSum& sum) {
  for (const WakePair& pair : sum.pairs) {
    named_[place_of_thread(at, pair.tid, classifier_.generation())].unnamed_ns += pair.whole_ns;
  }
}

// A stack of too many frames has one more, at its root, that says so.
PlaceNumber SiteClasses::place_of(const StackEntry& entry, const BlockSum& sum) const {
  PlaceNumber place(entry.reason);
  const bool is_cut = sum.sample.user_end == OFFCPUD_UNWIND_END_DEPTH;
  for (std::size_t i = is_cut ? 1 : 0; i < entry.user.size(); ++i) {
    const KnownFrame& frame = known_[entry.user[i]];
    place.add(frame.name, frame.part);
  }
  return place;
}

const SiteClasses::Times* SiteClasses::said_of(const ProcessPlace& at) const {
  return at.place == 0 ? nullptr : evidence_.places.find(at, evidence_.now);
}

void SiteClasses::decide(Snapshot& snapshot) {
  if (evidence_.learns) {
    evidence_.evidence.learn(waits_, evidence_.now);
    tell_named();
  }
  for (const EntryWaits& each : asking_) {
    if (each.count != 0) snapshot.entries[each.entry].wait_for = most_of(judge(each));
  }
  if (evidence_.learns) tell_places();
}

// Few waits with functions do not make many without an answer: an idle worker may ask at times.
void SiteClasses::tell_named() {
  for (auto& [at, named] : named_) {
    Times& times = named.times;
    const double named_ns = std::accumulate(times.begin(), times.end(), 0.0);
    if (named_ns <= 0) continue;
    for (std::size_t i = 0; i < times.size() && named_ns < named.unnamed_ns; ++i) {
      if (is_idle(static_cast<WaitFor>(i))) continue;
      times[static_cast<std::size_t>(WaitFor::Unknown)] += std::exchange(times[i], 0);
    }
    if (!evidence_.places.put(at, named.owner, times, evidence_.now)) {
      evidence_.evidence.add_left_out(1);
    }
  }
}

// Windows see all entries of a place as one, so their times are added up.
void SiteClasses::tell_places() {
  struct Said {
    ProcessPlace at;
    ShareOwner owner;
    Times times{};
  };
  std::map<std::pair<std::uint64_t, std::uint32_t>, Said> places;
  for (const EntryWaits& each : asking_) {
    if (asks_for_chains(each.ask)) continue;
    Said& said = places[{each.at.place, each.at.tgid}];
    if (said.at != each.at) said.times = {};  // the same numbers of another process
    said.at = each.at;
    if (each.count != 0) said.owner = waits_[each.first].at.owner;
    const Times more = judge(each);
    for (std::size_t i = 0; i < more.size(); ++i) said.times[i] += more[i];
  }
  for (const auto& [key, said] : places) {
    if (!evidence_.places.put(said.at, said.owner, said.times, evidence_.now)) {
      evidence_.evidence.add_left_out(1);
    }
  }
}

SiteClasses::Times SiteClasses::judge(const EntryWaits& entry) const {
  Times times{};
  for (const SeenWaits& each : std::span(waits_).subspan(entry.first, entry.count)) {
    const WaitFor by_rule = each.named
                                ? each.wait_for
                                : by_named_past(evidence_.places, each.at, classifier_.generation(),
                                                each.wait_for, evidence_.now);
    const auto by_wakers =
        evidence_.evidence.judge(each.at, by_rule, evidence_.now, each.hands_over);
    const auto verdict = as_asked(entry.ask, by_wakers, by_rule);
    times[static_cast<std::size_t>(verdict.wait_for)] += each.ns;
  }
  return times;
}

}  // namespace offcpud
