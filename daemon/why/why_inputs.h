// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/chain_end.h"
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
  WaitTime child;                // part of `time`: waits for children of one's own
  std::uint32_t lasting = 0;     // long waits in progress
  std::uint32_t on_sockets = 0;  // of them, those on sockets
  WaitAge oldest;                // of them all
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
  WaitTime child;  // part of `time`: waits for children of one's own
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

// Who holds a lock for which threads of a unit wait, and what the holder does, at the window's end.
// If the wait is over: at the last look during it that saw a holder.
struct UnitHolder {
  enum class Does : std::uint8_t {
    Unknown,
    Runs,        // it has a CPU, or waits for one
    Waits,       // for `wait_for`
    Deadlocked,  // it waits for a lock that is held by one of those who wait for it
  };
  std::string unit;                        // whose threads wait
  WaitFor waiters_for = WaitFor::Unknown;  // for what, as their stacks say
  std::string lock;                        // "a mutex"; completes "holds"
  bool is_gil = false;                     // whether it is Python's GIL
  std::string by;                          // the holder's unit, or a cgroup of no unit
  std::string process;
  std::uint32_t pid = 0;   // 0: not in the daemon's PID namespace
  bool is_thread = false;  // false: it is held by the process as a whole
  std::string thread;      // its name; may be empty
  std::uint32_t tid = 0;
  std::uint32_t waiting = 0;  // threads
  Does does = Does::Unknown;
  WaitAge age = {};                             // of what it does; 0 ns: unknown
  WaitFor wait_for = WaitFor::Unknown;          // of Waits
  std::string site;                             // of Waits; may be empty
  UnitPeer on;                                  // of Waits: whom; Unknown: nobody can tell
  std::string circle;                           // of Deadlocked: "debit (tid 7), credit (tid 8)"
  std::shared_ptr<const UnitHolder> next = {};  // of Waits: who holds the lock that it waits for
};

// A part of waits that ended within the window, and what others did during it: those for whom
// threads of the unit waited, then those for whom these waited, and so on.
struct UnitChain {
  using End = ChainEnd;
  struct Step {
    WaitFor wait_for = WaitFor::Unknown;
    UnitPeer on;
  };
  std::string unit;
  WaitFor wait_for = WaitFor::Unknown;
  UnitPeer on;  // whom it waited on
  std::vector<Step> steps;
  End end = End::Unknown;
  BusyAfter busy_after = {};
  WaitTime time;
};

// The requests of a unit that a device has done, if threads of any unit wait on that device.
struct UnitLoad {
  enum class By : std::uint8_t {
    Unit,
    Kernel,   // write-back, journals and the like, for nobody knows whom
    Others,   // those that have no room
    Unknown,  // the beginning of the request was not seen
  };
  std::string unit;  // of Unit
  By kind = By::Unknown;
  std::string device;
  double read_bytes = 0, written_bytes = 0, requests = 0;
  double request_ns = 0;  // from the beginning of each request to its end; 0 of all: not known
};

// The process of a unit that waited for this most within the last window.
struct UnitWaiter {
  std::string unit;
  WaitFor wait_for = WaitFor::Unknown;
  std::string process;    // its name, followed by " and others" if these waited much, too
  std::uint32_t pid = 0;  // 0: several processes, or not in the daemon's PID namespace
};

// What a unit waited for and does not wait for any more: its cgroups are removed, its processes
// have ended, or it has hardly waited for it for some seconds.
struct UnitPast {
  std::string unit;
  std::size_t for_kind = 0;   // see cause.h
  double within_seconds = 0;  // it ended at most this long ago
  bool is_gone = false;       // all cgroups of the unit are removed
};

// How many threads of a unit wait for locks of which no holder is told, by what was seen of these
// locks in the last window.
struct UnitUnheld {
  std::string unit;
  bool is_gil = false;  // of Python's GIL; false: of all other locks
  // See LockLook.
  std::uint32_t names_nobody = 0, changes_hands = 0, seen_once = 0, no_single_holder = 0;
  double ended = 0;  // waits for any locks that ended in that window, about; not in rows of GILs
};

// Waits of a unit for a lock at one site that ended in the last minutes, and the thread that ended
// them (ReleasedWaits).
struct UnitRelease {
  enum class By : std::uint8_t { Thread, Others, Nobody };
  std::string unit;  // whose threads waited
  std::string site;
  By kind = By::Nobody;
  std::string by;  // of Thread: its unit, or a cgroup of no unit
  std::string process, thread;
  std::uint32_t pid = 0, tid = 0;  // 0: not in the daemon's PID namespace
  double ns = 0, squares = 0;      // about how long they took; sum of the squares by sample
  std::uint32_t samples = 0;       // that were seen
};

// What one source knows, sorted by unit. If it knows nothing, `missing` says why and completes
// "unknown, because ...".
template <class Row>
struct Source {
  std::vector<Row> rows;
  double seconds = 0;      // length of its window; 0: it knows nothing
  double age_seconds = 0;  // since its end
  // Amounts that found no room in `rows`, and are summed in rows about others or of "(other)".
  std::size_t left_out = 0;
  std::string missing = "this daemon does not follow it";

  [[nodiscard]] bool known() const { return seconds > 0; }
  [[nodiscard]] std::span<const Row> of(const std::string& unit) const {
    const auto begin = std::ranges::lower_bound(rows, unit, {}, &Row::unit);
    return {begin, std::ranges::upper_bound(rows, unit, {}, &Row::unit)};
  }
  void sort() { std::ranges::stable_sort(rows, {}, &Row::unit); }
};

struct WhyInputs {
  // A process with rows of its own, whose waits are among those of its unit, too; empty: none.
  std::string process;
  std::string unit_of_process;  // whose requests to disks are not told apart
  // What others did during the waits of the process is not known, because other processes that
  // waited longer have all the room.
  bool no_room_for_chains = false;
  Source<UnitSite> sites;
  Source<UnitPeer> peers;
  Source<UnitCpu> cpus;
  Source<UnitTaker> takers;
  Source<UnitHolder> holders;
  Source<UnitChain> chains;
  Source<UnitLoad> loads;
  Source<UnitWaiter> waiters;
  Source<UnitPast> past;
  Source<UnitUnheld> unheld;
  Source<UnitRelease> releases;
};

}  // namespace offcpud
