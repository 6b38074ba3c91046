// SPDX-License-Identifier: Apache-2.0
#include "sites/place_crowds.h"

#include <cmath>
#include <utility>

namespace offcpud {
namespace {

constexpr double kLeastHeld = 0.8;
constexpr double kStandardErrors = 2;
constexpr std::uint32_t kFewestWakeups = 2;

}  // namespace

PlaceCrowds::Members::const_iterator PlaceCrowds::first_of(Members::const_iterator member) const {
  while (member->second.joined != member->first) member = members_.find(member->second.joined);
  return member;
}

void PlaceCrowds::add(const Member& member, double ns, double variance_ns2) {
  Crowd& crowd = members_.try_emplace(member, Crowd{.joined = member}).first->second;
  crowd.waited_ns += ns;
  crowd.variance_ns2 += variance_ns2;
}

void PlaceCrowds::join(const Member& one, const Member& other) {
  const auto first = members_.find(one), second = members_.find(other);
  if (first == members_.end() || second == members_.end()) return;
  auto from = first_of(first), into = first_of(second);
  if (from == into) return;
  // The smaller joins the larger, so that nobody is many steps from the first.
  if (from->second.threads > into->second.threads) std::swap(from, into);
  const Crowd more = from->second;
  members_[from->first].joined = into->first;
  Crowd& crowd = members_[into->first];
  crowd.threads += more.threads;
  crowd.waited_ns += more.waited_ns;
  crowd.variance_ns2 += more.variance_ns2;
}

void PlaceCrowds::clear() {
  members_.clear();
  from_outside_.clear();
  settled_ = false;
}

void PlaceCrowds::add_wakeups(const Member& of, std::uint32_t waker_tid, std::uint32_t samples) {
  const auto woken = members_.find(of);
  if (woken == members_.end() || of.tid == waker_tid) return;
  const auto waker = members_.find({.tgid = of.tgid, .tid = waker_tid, .place = of.place});
  if (waker == members_.end()) {
    from_outside_[{of, waker_tid}] += samples;
    return;
  }
  woken->second.took += samples;
  waker->second.gave += samples;
}

// A single wakeup may be chance: a thread that took a signal meant for another.
void PlaceCrowds::settle() const {
  if (settled_) return;
  settled_ = true;
  woken_by_.clear();
  passing_.clear();
  for (auto member = members_.begin(); member != members_.end(); ++member) {
    const bool passes =
        member->second.took >= kFewestWakeups && member->second.gave >= kFewestWakeups;
    if (passes) ++passing_[first_of(member)->first];
  }
  for (const auto& [pair, samples] : from_outside_) {
    const auto member = members_.find(pair.first);
    if (samples < kFewestWakeups || member == members_.end()) continue;
    ++woken_by_[{.of = first_of(member)->first, .tid = pair.second}];
  }
}

bool PlaceCrowds::hands_over(const Member& member) const {
  settle();
  const auto found = members_.find(member);
  if (found == members_.end()) return false;
  const Member first = first_of(found)->first;
  const auto passing = passing_.find(first);
  if (passing == passing_.end() || passing->second < 2) return false;
  const auto outside = woken_by_.lower_bound({.of = first, .tid = 0});
  for (auto one = outside; one != woken_by_.end() && one->first.of == first; ++one) {
    if (one->second >= 2) return true;
  }
  return false;
}

bool PlaceCrowds::hands_out(const Member& member, std::uint32_t tid) const {
  settle();
  const auto found = members_.find(member);
  if (found == members_.end()) return false;
  const auto woken = woken_by_.find({.of = first_of(found)->first, .tid = tid});
  return woken != woken_by_.end() && woken->second >= 2;
}

bool PlaceCrowds::may_hold(const Member& member, std::chrono::nanoseconds window) const {
  const auto found = members_.find(member);
  if (found == members_.end()) return true;
  const Crowd& crowd = first_of(found)->second;
  const auto threads = static_cast<double>(crowd.threads);
  const double elsewhere_ns = threads * static_cast<double>(window.count()) - crowd.waited_ns;
  const double unsure_ns = kStandardErrors * std::sqrt(crowd.variance_ns2);
  return elsewhere_ns + unsure_ns >= kLeastHeld * crowd.waited_ns / threads;
}

}  // namespace offcpud
