// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/wait_for.h"
#include "lock.h"
#include "peers/wait_peer.h"

namespace offcpud {

// What kind of lock somebody holds.
enum class LockKind : std::uint8_t {
  Mutex,        // pthread_mutex_t, std::mutex
  RobustMutex,  // pthread_mutexattr_setrobust(3)
  PiMutex,      // with priority inheritance
  RwLock,       // pthread_rwlock_t, held by a writer
  KernelMutex,
  KernelRwsem,  // held by a writer
  File,         // flock(2), fcntl(2)
  PythonGil,    // of CPython
};

// The one place where they are spelled.
inline constexpr std::array<std::string_view, 8> kLockNames = {
    "mutex",        "robust_mutex", "pi_mutex",  "rwlock",
    "kernel_mutex", "kernel_rwsem", "file_lock", "python_gil"};

constexpr std::string_view name_of(LockKind kind) {
  return kLockNames[static_cast<std::size_t>(kind)];
}
static_assert(name_of(LockKind::PythonGil) == "python_gil");

// Who holds the lock that a thread waits for. A value type.
struct LockHolder {
  LockKind kind = LockKind::Mutex;
  std::uint32_t tid = 0;        // in the initial PID namespace
  std::uint32_t local_tid = 0;  // in the daemon's; 0: not there
  // Of a thread, or of the process's first thread: any thread of a process may free its file locks.
  std::array<char, OFFCPUD_COMM> comm{};
  PeerProcess process{};

  [[nodiscard]] bool is_thread() const { return kind != LockKind::File; }
  // The holder, as the peer of a thread that waits for the lock.
  [[nodiscard]] WaitPeer as_peer() const {
    return {.kind = WaitPeer::Kind::Process, .process = process};
  }
  [[nodiscard]] bool same_as(const LockHolder& other) const {
    return kind == other.kind && tid == other.tid && process.same_as(other.process);
  }
};

// The holders by waiter: its number in the initial PID namespace, and when its wait began.
using HeldBlocks =
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::shared_ptr<const LockHolder>>;

// Why no holder is told of a lock that a thread waits for.
enum class LockLook : std::uint8_t {
  NamesNobody,   // its memory named no thread: it was free at that moment, or is of another kind
  ChangesHands,  // looks named several threads, or once a thread and once none
  SeenOnce,      // it named a thread, and this was the first look: the next one can tell
  // There is none: several processes have locks on the file, or readers hold a read-write lock or a
  // semaphore of the kernel.
  NoSingleHolder,
};

// By waiter, as HeldBlocks.
using UnheldBlocks = std::map<std::pair<std::uint32_t, std::uint64_t>, LockLook>;

// How many waits of one cgroup, in progress at a look, are for locks of which no holder is told.
// Waits for Python's GIL are counted apart: what is seen of it says nothing of other locks.
struct UnheldWaits {
  std::string cgroup;  // path
  bool is_gil = false;
  std::uint32_t names_nobody = 0, changes_hands = 0, seen_once = 0, no_single_holder = 0;
};

// A thread that waits for a lock whose holder is known.
struct HeldWait {
  std::uint32_t tid = 0;  // in the initial PID namespace
  std::uint32_t pid = 0;  // in the daemon's
  std::uint64_t since_ns = 0;
  std::uint64_t age_ns = 0;
  WaitFor wait_for = WaitFor::Lock;          // as its stack says: also storage, unknown
  std::string cgroup, holder_cgroup;         // paths
  std::shared_ptr<const LockHolder> holder;  // never null
  std::uint32_t waiters = 1;                 // for which this one stands
};

}  // namespace offcpud
