// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/wait_for.h"
#include "why/device_load.h"
#include "why/lock_releasers.h"
#include "why/why_inputs.h"

namespace offcpud {

// What threads wait for: a WaitFor, or a CPU.
inline constexpr std::size_t kForCpu = kWaitForNames.size();  // in a run queue
inline constexpr std::size_t kForThrottled = kForCpu + 1;     // the same, by cpu.max
inline constexpr std::size_t kForKinds = kForThrottled + 1;

// "lock", ..., "unknown", "cpu", "throttled".
std::string_view name_of_for(std::size_t for_kind);
// "for a lock", "for a CPU"; completes "wait".
std::string_view words_of_for(std::size_t for_kind);
// Whether somebody may want to do something about it.
bool is_actionable_for(std::size_t for_kind);

// Why threads of a unit waited: a node of a tree. Amounts are threads that waited on average
// (seconds within a second); those of `parts` add up to the node's, and what nobody knows is a part
// of its own, Kind::Unknown.
struct Cause {
  enum class Kind : std::uint8_t {
    For,      // what they waited for
    Unit,     // whom: a unit
    Remote,   // an address
    Device,   // a disk
    Self,     // the unit's own, or that of the process's unit: its other threads, its cpu.max
    Kernel,   // kernel threads
    Others,   // several, which are not told apart
    Nobody,   // it asked to sleep, or a CPU had to wake up
    Runs,     // nobody: the unit itself runs, or perhaps waits for a CPU: see `because`
    Busy,     // the unit itself is busy with other requests
    Unknown,  // `because`
  };
  Kind kind = Kind::Unknown;
  std::size_t for_kind = static_cast<std::size_t>(WaitFor::Unknown);
  std::string name;  // the unit, address or device; of For the site with most of it
  // Of For, Runs and Busy within the part of another unit: that unit. Its threads did this during
  // the waits of the tree's unit (IntervalChains). If it waited for a CPU, nobody knows who had it
  // at these moments: `because` says who mostly had it in the window.
  std::string of = {};
  std::string process;  // of a unit: who had most of it; may be empty
  std::uint32_t pid = 0;
  double threads = 0;
  double error = 0;  // its standard error; 0: exact
  // Of Unknown: completes "unknown, because ...". Of Self: which limit, or why no holder is told.
  // Of Runs: that a part of it may be waits for a CPU; empty: it runs. Of For a CPU: see `of`.
  std::string because;
  std::vector<Cause> parts;
  // Where the time was spent, by site; only of For. Adds up to the node, too.
  struct Site {
    std::string site;  // empty: no rule took it
    double threads = 0, error = 0;
    std::uint32_t lasting = 0, on_sockets = 0;  // as in UnitSite
    WaitAge oldest;
  };
  std::vector<Site> sites = {};
  // Of a lock: the holder for whom most threads of the unit wait now or, if that is over, waited at
  // the last look that saw a holder. Null: none was seen.
  std::shared_ptr<const UnitHolder> holder = {};
  // Of a lock without holder, and of the part of it that is Self: who ended such waits before.
  std::shared_ptr<const LockReleasers> released = {};
  // Of a device: who loads it. Of other causes null.
  std::shared_ptr<const DeviceLoad> load = {};
  // Of For at the top and its parts: whether nobody of the unit waits for it any more (UnitPast).
  // At the top also: it ended at most `over_within` ago.
  bool over = false;
  double over_within = 0;  // seconds
};

Cause::Kind kind_of(UnitPeer::On on);

// One unit and why it waited.
struct UnitCauses {
  std::string unit;
  double actionable = 0;  // threads that waited for what somebody may act on, and for a CPU
  double error = 0;       // of it
  double over = 0;        // part of `actionable`: nobody waits for that any more
  double unknown = 0;     // nobody can tell what for
  double idle = 0;        // waited for work or a timer
  double children = 0;    // waited for children of their own
  double running = 0;     // CPUs
  bool gone = false;      // all its cgroups are removed
  // All of Kind::For: first what lasts, then what is over, last idle and unknown ones; of each the
  // largest first.
  std::vector<Cause> causes;

  // Whether all that somebody may act on is over.
  [[nodiscard]] bool is_over() const;
};

// The tree of a unit. Never attributes more than was waited.
UnitCauses causes_of(const WhyInputs& inputs, const std::string& unit);

// The units that waited, or used a CPU, by name; without WhyInputs::process.
std::vector<std::string> units_in(const WhyInputs& inputs);

// Waits of fewer threads are not worth a sentence.
inline constexpr double kLeastThreads = 0.05;

// The largest cause that somebody may act on: among those that last or, if none does, among those
// that are over. null: there is none of at least `least` threads.
const Cause* main_cause(const UnitCauses& unit, double least = kLeastThreads);

}  // namespace offcpud
