// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/wait_age.h"
#include "base/wait_for.h"
#include "base/wait_time.h"

namespace offcpud {

// What is known of the waits of a host within a window, source by source, each by the name of the
// unit whose threads waited. Immutable once made; names are as the host gave them.

// What the threads of a unit waited for, and where.
struct UnitSite {
  std::string unit;
  WaitFor wait_for = WaitFor::Unknown;
  std::string site;  // empty: no rule took them
  WaitTime time;
  WaitTime child;             // part of `time`: waits for children of one's own
  std::uint32_t lasting = 0;  // long waits in progress
  WaitAge oldest;             // of them
};

// Whom or what they waited on. The sum over `on` is that over sites.
struct UnitPeer {
  enum class On : std::uint8_t {
    Unit,     // also a cgroup of no unit
    Remote,   // an address
    Device,   // a disk
    Nobody,   // it asked to sleep
    Others,   // those that have no room
    Unknown,  // nobody can tell
  };
  std::string unit;
  WaitFor wait_for = WaitFor::Unknown;
  On kind = On::Unknown;
  std::string on;         // of Unit, Remote and Device: its name
  std::string process;    // of Unit: the name of the process with most of it; may be empty
  std::uint32_t pid = 0;  // its number; 0: several, or not there
  WaitTime time;
};

// How a unit used CPUs. Exact.
struct UnitCpu {
  std::string unit;
  double running_ns = 0;
  double queued_ns = 0;     // waited for a CPU, but not by cpu.max
  double throttled_ns = 0;  // by cpu.max
};

// Who had the CPU while threads of a unit waited for one. The sum is UnitCpu::queued_ns.
struct UnitTaker {
  enum class By : std::uint8_t {
    Unit,     // another one
    Same,     // other threads of the same unit
    Kernel,   // kernel threads
    Idle,     // nobody: the CPU had to wake up, or the thread was moved
    Others,   // those that have no room
    Unknown,  // it was too long ago
  };
  std::string unit;
  By kind = By::Unknown;
  std::string by;       // of Unit: its name
  std::string because;  // of Unknown: completes "unknown, because ..."
  double ns = 0;
};

// Threads of a unit that wait now for a lock, as far as one thing is known of all of them.
struct UnitHolder {
  enum class Known : std::uint8_t {
    Named,   // the holder is known
    InTurn,  // many hold it, one after the other
    No,      // `why`
  };
  std::string unit;
  std::string lock;  // what it is: "mutex", "file lock"
  Known known = Known::No;
  std::string why;  // of No: completes "unknown, because ..."
  std::string holder_unit, holder_process;
  std::uint32_t holder_pid = 0;
  std::string holder_does;  // completes "the holder ...": "runs", "waits for an answer for 3.2 s"
  std::uint32_t threads = 0;
  double ns = 0;  // that they waited within the window
  WaitAge oldest;
  bool deadlocked = false;  // they wait for each other
};

// What a unit read and wrote on a device within the window.
struct DeviceUse {
  std::string device, unit;
  double bytes = 0, operations = 0;
};

// The waits of a unit that pass through the same hops. An interval inside of an interval, so the
// sum over the chains of a unit is never more than it waited.
struct UnitChain {
  struct Hop {
    enum class Does : std::uint8_t { Waits, Runs, Queued, Disk, Sleeps, Unknown };
    std::string unit;  // or device, if it is the last one and `does` is Disk
    Does does = Does::Unknown;
  };
  std::string unit;
  WaitFor wait_for = WaitFor::Unknown;
  std::vector<Hop> hops;  // the first is whom the unit waits for; all but the last one wait
  WaitTime time;
};

// What one source knows, sorted by unit; else why it knows nothing, which completes "unknown,
// because ...".
template <class Row>
struct Source {
  std::vector<Row> rows;
  double seconds = 0;  // length of its window; 0: it knows nothing
  std::string missing = "this daemon does not follow it";

  [[nodiscard]] bool known() const { return seconds > 0; }
  [[nodiscard]] std::span<const Row> of(const std::string& unit) const {
    const auto found = std::ranges::equal_range(rows, unit, {}, &Row::unit);
    return {found.begin(), found.end()};
  }
  void sort() { std::ranges::stable_sort(rows, {}, &Row::unit); }
};

struct WhyInputs {
  // A process with rows of its own, whose waits are among those of its unit, too; empty: none.
  std::string process;
  Source<UnitSite> sites;
  Source<UnitPeer> peers;
  Source<UnitCpu> cpus;
  Source<UnitTaker> takers;
  Source<UnitHolder> holders;
  Source<DeviceUse> devices;
  Source<UnitChain> chains;
};

}  // namespace offcpud
