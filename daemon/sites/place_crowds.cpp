// SPDX-License-Identifier: Apache-2.0
#include "sites/place_crowds.h"

#include <cmath>
#include <utility>

namespace offcpud {
namespace {

constexpr double kLeastHeld = 0.8;
constexpr double kStandardErrors = 2;

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
