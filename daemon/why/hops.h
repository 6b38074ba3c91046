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
    Waits,    // for `for_kind`; the next hop is whom it waits for
    Runs,     // it has a CPU
    Sleeps,   // for a timer
    Idles,    // waits for work; the next hop is who sends it
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
  double threads = 0;  // that do that
  double share = 0;    // of the waits for it, the part in which it did that; 0: not known
  // Of Runs: of the waits for it, the part in which it waited for a CPU instead; 0: little, or not
  // known.
  double queued = 0;
  // A clause: who mostly had the CPU while this unit waited for one. Of End: while the unit of the
  // hop before did. May be empty.
  std::string behind = {};
  // True: a part of what the first unit waited. False: what this unit did in the same window,
  // perhaps for others; nothing of it is attributed.
  bool attributed = false;
  bool or_queued = false;  // of Runs: it may also have waited for a CPU in that time
  // In `share` it was busy with other requests; `does` is what it mostly did for these, Unknown if
  // that is not known.
  bool busy = false;
  // Of Unknown: why. Of Loads: how much. Of a device that no single unit is to blame for: a clause
  // about its load. Of others: more, such as which limit.
  std::string because;
  // Whether it does that no more. Of the first hop also: it ended at most `over_within` ago.
  bool over = false;
  double over_within = 0;  // seconds
  bool gone = false;       // of the first hop: all cgroups of the unit are removed
  // It holds the lock for which the hop before waits; then `does` is about this thread. Null: not
  // known, or the hop before waits for no lock.
  std::shared_ptr<const UnitHolder> holder = {};
  // Of a lock of which no holder is told: who ended such waits before. Null: too few were seen.
  std::shared_ptr<const LockReleasers> released = {};
};

// The first hop says what the first unit waits for; the last one is who is to blame, or Unknown.
struct WhyPath {
  std::vector<WhyHop> hops;
  double followed = 1;  // share of the second hop in what is known so far of the first hop's waits

  static constexpr std::size_t kMostHops = 8;

  // Whom the path ends at; null: unknown.
  [[nodiscard]] const WhyHop* culprit() const;
};

// Follows the largest known part of `cause`, a cause of `unit`, and from there on what each next
// unit does most in the window. No other unit is in the path twice; a hop of Kind::Self has the
// name of the unit before it, or of the unit of the process before it. A part of less than a fifth
// of its cause is not followed.
WhyPath follow(WhyUnits& units, const std::string& unit, const Cause& cause);

}  // namespace offcpud
