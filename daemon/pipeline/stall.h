// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "base/wait_age.h"
#include "base/wait_for.h"
#include "offcpud.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// A path that is an argument of a system call, as bytes.
struct CallPath {
  static constexpr std::size_t kMost = 255;  // longer ones are cut

  // The directory in which a relative path begins: a descriptor of the thread, or AT_FDCWD.
  std::int32_t directory_fd = 0;
  bool is_fifo = false;
  std::string name;       // the path as it was given
  std::string directory;  // the path of this directory, or its end; empty: not known
  bool is_whole = false;  // `directory` is all of its path

  [[nodiscard]] bool is_relative() const { return !name.starts_with('/'); }
};

// What a blocked thread waits for, as far as the kernel tells. Looked up while it was blocked.
struct WaitDetail {
  std::optional<std::uint32_t> syscall;  // nullopt: it is in none (a kernel thread, a page fault)
  bool compat = false;                   // `syscall` is a number of the 32-bit table
  std::vector<std::uint64_t> arguments;  // of the system call: six, or none
  std::vector<std::string> stack;  // kernel functions, innermost first, "name+0x1/0x2 [module]"

  std::optional<std::uint64_t> futex_address;
  // owner of a PI mutex, which the kernel knows; in the initial PID namespace
  std::optional<std::uint32_t> owner_tid;
  std::string owner_comm;

  std::optional<CallPath> path;    // as the kernel reports it; `file` is made of it
  std::optional<std::int32_t> fd;  // argument of the system call
  // Path of `fd`, "socket", "pipe", "anon_inode:[eventpoll]"; or the path that is the call's
  // argument. A relative one comes after the path of its directory, if that is known.
  std::string file;
  // What a call that opens a FIFO waits for: "writer", "reader", or "other end" if nobody knows
  // which. Empty: it is no such call.
  std::string fifo_lacks;
  std::string socket;  // "tcp 10.0.0.1:33110 -> 10.0.0.2:443 ESTABLISHED"
  std::string device;  // of the file system or block device: "8:1 sda1"
};

// A block that has outlasted its threshold.
struct Stall {
  // Whether people are told of it. False: its stack does not say for certain what it waits for, so
  // it may be idle.
  bool told = true;
  // Null: its reason decided, because no stack was examined in time.
  std::shared_ptr<const ExaminedWait> wait;
  std::uint32_t tid = 0, tgid = 0;              // in the initial PID namespace
  std::uint32_t local_tid = 0, local_tgid = 0;  // in the daemon's
  std::string comm, process_comm;
  std::shared_ptr<const SubjectLabels> labels;
  std::size_t kind = OFFCPUD_BLOCKED_OTHER;
  std::uint64_t since_ns = 0;  // CLOCK_MONOTONIC
  WallTime since;
  bool estimated = false;            // it began before the daemon did
  std::optional<WaitDetail> detail;  // nullopt: it ended before the look-up

  // Whom it waited for, by the last window that knew while it lasted (StallPeers); null: none knew.
  std::shared_ptr<const HeldWait> was_held;  // who holds the lock
  bool was_deadlocked = false;
  std::shared_ptr<const PeerWaits> was_on;

  // The end. While it is in progress, duration_ns is its age in the last pass.
  std::uint64_t duration_ns = 0;
  bool ended = false;
  // It was told, but turned out to be idle; or its reason decided, and its stack is not certain.
  bool taken_back = false;
  std::optional<WallTime> ended_at;  // nullopt: in progress, or the end was not seen
  std::optional<offcpud_waker> woken_from;
  std::uint32_t waker_tid = 0;
  std::string waker_comm;
};

// By `for`: how many blocks in progress have outlasted the least threshold, but are no stalls.
using UntoldBlocks = std::array<std::uint64_t, kWaitForNames.size()>;

// Stalls in progress that are told and have no record, as there is no room for more.
struct UnlistedStalls {
  std::shared_ptr<const SubjectLabels> labels;  // of their cgroup
  WaitFor wait_for = WaitFor::Unknown;          // Unknown also: told by their reason
  std::uint32_t threads = 0;
  WaitAge oldest;
};

// Immutable. First those in progress, oldest first; then those that ended, latest first.
struct StallList {
  std::vector<std::shared_ptr<const Stall>> stalls;
  std::vector<std::shared_ptr<const Stall>> untold;  // in progress, oldest first
  std::vector<UnlistedStalls> unlisted;              // one for each cgroup and `wait_for`
  // Threads of `unlisted`.
  [[nodiscard]] std::uint64_t beyond_limit() const {
    std::uint64_t threads = 0;
    for (const UnlistedStalls& each : unlisted) threads += each.threads;
    return threads;
  }
  // Includes idle blocks, and those of `untold` as Unknown. Those under Answer wait for children of
  // their own process.
  UntoldBlocks untold_blocks{};
  bool examines = false;             // stacks are examined; else reasons decide
  std::uint64_t dropped = 0;         // ended ones dropped for newer ones
  std::uint64_t detail_pending = 0;  // stalls that have not been looked up yet
};

}  // namespace offcpud
