// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/clock.h"
#include "base/share_owner.h"
#include "sampler/examined_stack.h"
#include "sites/place_classes.h"

namespace offcpud {

// What lasting blocks say of their places, for snapshots and for waits that end at the same place.
// Threads at one place may wait for different things, so each counts by its time.
class ToldPlaces {
 public:
  // `stack`: at this place.
  void add(const ProcessPlace& at, const ExaminedStack& stack, WaitFor wait_for, std::uint64_t ns) {
    Told& told = places_[at];
    told.owner = stack.owner();
    // A block that has just ended has no time in this window.
    const auto time = static_cast<double>(std::max<std::uint64_t>(ns, 1));
    told.times[static_cast<std::size_t>(wait_for)] += time;
  }

  // Returns how many places were left out for lack of room.
  [[nodiscard]] std::size_t tell(PlaceClasses& places, MonotonicTime now) const {
    std::size_t left_out = 0;
    for (const auto& [at, told] : places_) {
      if (!places.put(at, told.owner, told.times, now)) ++left_out;
    }
    return left_out;
  }

 private:
  struct Told {
    ShareOwner owner;
    PlaceClasses::Times times{};
  };
  std::map<ProcessPlace, Told> places_;
};

}  // namespace offcpud
