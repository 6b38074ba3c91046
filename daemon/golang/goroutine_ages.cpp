// SPDX-License-Identifier: Apache-2.0
#include "golang/goroutine_ages.h"

#include <algorithm>

namespace offcpud {
namespace {

// Two looks could take two waits at one place for one, if the goroutine ran 256 times in between,
// or any multiple; three looks hardly ever do.
constexpr std::uint32_t kCertain = 3;

}  // namespace

GoroutineAges::GoroutineAges(const GoroutineLook& look) : now_(look.at) {
  for (const WaitingGoroutine& goroutine : look.waiting) {
    if (goroutine.since_ns < ns_of(look.at)) collections_.push_back(goroutine.since_ns);
  }
  std::ranges::sort(collections_);
}

// A goroutine that notes one collection was seen to wait by the next one. Not all collections are
// known, but the next one that some goroutine notes did not run before that next one.
std::optional<std::chrono::nanoseconds> GoroutineAges::of(const WaitingGoroutine& goroutine) const {
  if (goroutine.stack == GoroutineReader::kChanged) return std::nullopt;
  std::optional<std::chrono::nanoseconds> age;
  if (goroutine.sightings >= kCertain) age = now_ - goroutine.seen_since;
  const auto next = std::ranges::upper_bound(collections_, goroutine.since_ns);
  if (goroutine.since_ns == 0 || next == collections_.end()) return age;
  return std::max(age, std::optional(std::chrono::nanoseconds(ns_of(now_) - *next)));
}

}  // namespace offcpud
