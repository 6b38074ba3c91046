// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "why/why_units.h"

namespace offcpud {

// One step from who waits to who is to blame.
struct WhyHop {
  enum class Does : std::uint8_t {
    Waits,    // for `for_kind`, and the next hop is whom for
    Runs,     // it has a CPU
    Sleeps,   // for a timer
    Idles,    // waits for work, and the next hop is who sends it
    Loads,    // keeps the device of the hop before busy; `because` says how much
    Unknown,  // `because`
    End,      // it is no unit: an address, a disk, the kernel
  };
  Cause::Kind kind = Cause::Kind::Unit;
  std::string name;     // of the unit, address or device
  std::string process;  // of the unit; may be empty
  std::uint32_t pid = 0;
  Does does = Does::Unknown;
  std::size_t for_kind = 0;
  std::string site;    // where it does that; may be empty
  double threads = 0;  // that do
  double share = 0;    // of the waits for it in which it did that; 0: not known
  // True: a part of what the first unit waited. False: what this unit did in the same window,
  // perhaps for others; nothing of it is attributed.
  bool attributed = false;
  // Of Unknown: why. Of Loads: how much. Of a device that no single unit is to blame for: a clause
  // about its load. Of others: more, such as which limit.
  std::string because;
  // Whether it does so no more. Of the first hop also how long ago that ended, at most.
  bool over = false;
  double over_within = 0;  // seconds
  bool gone = false;       // of the first hop: all cgroups of the unit are removed
  // It holds the lock for which the hop before waits; then `does` is about this thread. Null: not
  // known, or the hop before waits for no lock.
  std::shared_ptr<const UnitHolder> holder = {};
};

// From the first unit on. The first hop says what that waits for; the last one is who is to blame,
// or Unknown.
struct WhyPath {
  std::vector<WhyHop> hops;

  static constexpr std::size_t kMostHops = 8;

  // Whom the path ends at; null: unknown.
  [[nodiscard]] const WhyHop* culprit() const;
};

// Follows the largest known part of `cause`, which is of `unit`; from there on by what each unit
// does most in the window. No unit is in it twice. What is small beside the rest is not followed:
// less than a fifth of the cause.
WhyPath follow(WhyUnits& units, const std::string& unit, const Cause& cause);

}  // namespace offcpud
