// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/chain_end.h"
#include "base/clock.h"
#include "base/shared_texts.h"
#include "base/wait_age.h"
#include "base/wait_for.h"
#include "base/wait_time.h"
#include "histogram/wait_estimate.h"
#include "holders/lock_holder.h"
#include "pipeline/disk_load.h"
#include "pipeline/released_waits.h"

namespace offcpud {

// The waits of one cgroup and one `for` that ended within a window.
struct EndedWaits {
  std::string cgroup;  // path
  WaitFor wait_for = WaitFor::Unknown;
  WaitEstimate waits;
};

// What the stack of a block says. Blocks with equal stacks share it.
struct ExaminedWait {
  WaitFor wait_for = WaitFor::Unknown;
  std::string site;      // empty: no rule took it
  bool certain = false;  // that it waits for this: names alone say so, or evidence that cannot err
  // Functions, innermost first: "pthread_mutex_lock [libc.so.6]". Empty for waits that are known to
  // be idle, and for those that found no room.
  SharedTexts user, kernel;
};

// How long waits at a place took, up to the last one that ended: since then, the place is silent.
// The numbers of waits, also those behind p99_ns, halve in ten minutes.
struct UsualWaits {
  double waits = 0;
  std::uint64_t p99_ns = 0;      // 99 % of them were no longer
  std::uint64_t longest_ns = 0;  // halves in an hour
  std::uint64_t seen_ns = 0;     // for how long the place was lively, not counting longer silences
  std::uint64_t silent_ns = 0;   // from the last of them to the end of the window

  friend bool operator==(const UsualWaits&, const UsualWaits&) = default;
};

// A block that lasted for a while, and what it is for.
struct ExaminedBlock {
  std::uint32_t tid = 0;  // in the initial PID namespace
  std::uint64_t since_ns = 0;
  bool censored = false;  // OFFCPUD_SAMPLE_CENSORED: since_ns is when the daemon found it
  bool lasts = false;     // it had not ended at the end of the window
  std::shared_ptr<const ExaminedWait> wait;
  // Set if its place has been silent for much longer than any wait there took. Null: it has not, or
  // too little is known of the place.
  std::shared_ptr<const UsualWaits> usual = nullptr;
};

// What the threads of one process waited for at one site within a window.
struct SiteWaits {
  std::uint32_t pid = 0;               // in the daemon's PID namespace; 0: several processes
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  std::string cgroup;                  // path
  std::string comm;                    // of the process; empty: no wait that ended had it
  WaitFor wait_for = WaitFor::Unknown;
  std::string site;  // empty: no rule took them
  WaitTime time;     // within the window, of waits that ended or not
  WaitTime child;    // part of `time`: waits for the process's own children
  // Long waits that were in progress at the window's end, and the age of the longest.
  std::uint32_t lasting = 0;
  std::uint32_t on_sockets = 0;  // of `lasting`: those known to be on sockets
  WaitAge oldest;
};

// What the threads of one process waited on within a window, by what they waited for.
struct PeerWaits {
  std::uint32_t pid = 0;               // of the waiters, in the daemon's PID namespace; 0: several
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  std::string cgroup;                  // path
  WaitFor wait_for = WaitFor::Unknown;
  // The unit of the other process, or the path of its cgroup if that belongs to none;
  // "remote:ADDRESS", "device:NAME", "(other)", "(unknown)", "(nobody)".
  std::string on;
  std::uint32_t peer_pid = 0;  // of the other process; 0: there is none, or several
  std::uint64_t peer_start_ns = 0;
  std::string peer_comm, peer_cgroup;
  WaitTime ended;  // of waits that ended within the window, whole
  WaitTime time;   // within the window, of waits that ended or not
  WaitTime child;  // part of `time`: waits for the process's own children
};

// How long threads of a cgroup waited for something on somebody, who meanwhile ran, or waited on
// somebody else, and so on. Sums pieces of waits that ended within the window (IntervalChains).
struct ChainWaits {
  using End = ChainEnd;
  struct Step {
    WaitFor wait_for = WaitFor::Unknown;
    std::string on;  // as PeerWaits::on

    friend bool operator==(const Step&, const Step&) = default;
  };
  // The process that waited, in the daemon's PID namespace; 0: all of the cgroup.
  std::uint32_t pid = 0;
  std::uint64_t process_start_ns = 0;  // CLOCK_BOOTTIME
  std::string cgroup;                  // path; empty: of one process
  WaitFor wait_for = WaitFor::Unknown;
  std::string on;           // whom the wait was on
  std::vector<Step> steps;  // what that one waited for, and on whom, and so on
  End end = End::Unknown;
  BusyAfter busy_after = {};
  WaitTime time;
};

// What threads waited for within a few seconds. Immutable: the thread that names functions makes
// it, the main thread reads it.
struct WaitWindow {
  WallTime begin;
  MonotonicTime begin_at{}, end_at{};
  std::vector<EndedWaits> ended;
  std::vector<SiteWaits> sites;            // no process, cgroup, wait_for and site twice
  std::vector<PeerWaits> peers;            // none twice; of each cgroup the longest
  std::vector<ChainWaits> chains;          // of each cgroup the longest
  std::vector<ChainWaits> process_chains;  // the same by process: of those that waited longest
  std::uint64_t unchained = 0;             // processes that found no room there
  DisksOfDevices disks;                    // of the devices in `peers` and `chains`
  std::vector<ReleasedWaits> released;     // waits for locks that ended, by who ended them
  std::vector<ExaminedBlock> blocks;       // by tid
  std::vector<HeldWait> held;       // those in progress at the end, by tid; one for each thread
  std::vector<UnheldWaits> unheld;  // of waits for locks in progress at the end; by cgroup
  std::uint64_t unexamined = 0;     // blocks that found no room here
  // Time of blocks whose samples were lost: of whole blocks, as in `ended`, and of their parts
  // within the window, as in `sites`. A block may be much longer than the window.
  std::uint64_t lost_ns = 0;
  std::uint64_t lost_within_ns = 0;

  // Null: the window does not have this block. `is_censored`: `since_ns` is an estimate, which
  // samples do not share, so it is not compared; a thread has one such block at most.
  [[nodiscard]] std::shared_ptr<const ExaminedWait> find(std::uint32_t tid, std::uint64_t since_ns,
                                                         bool is_censored) const {
    auto block = std::ranges::lower_bound(blocks, tid, {}, &ExaminedBlock::tid);
    for (; block != blocks.end() && block->tid == tid; ++block) {
      if (block->censored != is_censored) continue;
      if (is_censored || block->since_ns == since_ns) return block->wait;
    }
    return nullptr;
  }
  // Null: no block of the thread lasted at the end of the window.
  [[nodiscard]] const ExaminedBlock* lasting_block_of(std::uint32_t tid) const {
    auto block = std::ranges::lower_bound(blocks, tid, {}, &ExaminedBlock::tid);
    for (; block != blocks.end() && block->tid == tid; ++block) {
      if (block->lasts) return &*block;
    }
    return nullptr;
  }
  // Null: this thread waits for no lock whose holder is known.
  [[nodiscard]] const HeldWait* find_held(std::uint32_t tid) const {
    const auto found = std::ranges::lower_bound(held, tid, {}, &HeldWait::tid);
    return found != held.end() && found->tid == tid ? &*found : nullptr;
  }
};

}  // namespace offcpud
