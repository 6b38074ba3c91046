// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "offcpud.h"

namespace offcpud {

// What a blocked thread waits for, as far as the kernel tells; taken while it was blocked.
struct WaitDetail {
  std::optional<std::uint32_t> syscall;  // nullopt: in none (a kernel thread, a page fault)
  bool compat = false;  // a 32-bit system call: `syscall` is a number of that table
  std::vector<std::uint64_t> arguments;  // of the system call: six, or none
  std::vector<std::string> stack;  // kernel functions, innermost first, "name+0x1/0x2 [module]"

  std::optional<std::uint64_t> futex_address;
  std::optional<std::uint32_t> futex_word;
  bool robust = false;                     // the thread says that it waits for a robust mutex
  std::optional<std::uint32_t> owner_tid;  // of a robust or PI mutex, in the initial namespace
  std::string owner_comm;

  std::optional<std::int32_t> fd;  // that the system call is about
  std::string file;                // its path, "socket", "pipe", "anon_inode:[eventpoll]"
  std::string socket;              // "tcp 10.0.0.1:33110 -> 10.0.0.2:443 ESTABLISHED"
  std::string device;              // of the file system or block device: "8:1 sda1"
};

// A block that outlasted its threshold.
struct Stall {
  std::uint32_t tid = 0, tgid = 0;              // in the initial PID namespace
  std::uint32_t local_tid = 0, local_tgid = 0;  // in the daemon's
  std::string comm, process_comm;
  std::shared_ptr<const SubjectLabels> labels;
  std::size_t kind = OFFCPUD_BLOCKED_OTHER;
  std::uint64_t since_ns = 0;  // CLOCK_MONOTONIC
  WallTime since;
  bool estimated = false;            // it began before the daemon did
  std::optional<WaitDetail> detail;  // nullopt: it ended before it could be looked at

  // The end; for one that is in progress, duration_ns is its age in the last pass.
  std::uint64_t duration_ns = 0;
  bool ended = false;
  std::optional<WallTime> ended_at;  // nullopt: in progress, or the end was not seen
  std::optional<offcpud_waker> woken_from;
  std::uint32_t waker_tid = 0;
  std::string waker_comm;
};

// Immutable. In progress first, the oldest first; then those that ended, the latest first.
struct StallList {
  std::vector<std::shared_ptr<const Stall>> stalls;
  std::uint64_t dropped = 0;         // ended ones that were given up for newer ones
  std::uint64_t detail_pending = 0;  // stalls that were not looked at yet
};

}  // namespace offcpud
