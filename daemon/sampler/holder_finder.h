// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/share_owner.h"
#include "holders/futex_owner.h"
#include "holders/lock_holder.h"
#include "reader/process_memory.h"
#include "sample.h"
#include "sampler/process_owners.h"
#include "stacks/stack_source.h"

namespace offcpud {

// Finds who holds the locks for which the blocked threads of a walk wait: the kernel tells some
// holders itself, the memory of programs others. A holder is reported if the last two walks agree.
// Two readings in one walk are enough if a single thread waits for a lock in memory, has waited for
// kSureNs, and the walk before, if it read the lock, saw the same holder: whoever frees the lock
// would have woken that thread. In a convoy each thread waits while many have the lock in turn. A
// lock that changes hands has no holder. Used by one thread.
class HolderFinder {
 public:
  static constexpr std::uint64_t kSureNs = 1'000'000'000;
  // The most locks whose memory one walk reads, some 2 us each: of one process; of one user, once
  // kMostFree are read; and of all.
  static constexpr std::size_t kMostOfProcess = 512, kMostFree = 1'024, kMostOfUser = 2'048,
                               kMost = 8'192;

  // Must outlive the object.
  explicit HolderFinder(ProcessMemory& memory, ProcessOwners users = ProcessOwners())
      : memory_(memory), users_(std::move(users)) {}

  // Adds blocked threads of a walk, and reads the memory of their locks.
  void add(std::span<const offcpud_blocked_record> records);

  // Ends the walk: asks the kernel for the holders.
  Result<HeldBlocks> find(StackSource& kernel);

  // What the last find() saw of the locks for which it reported no holder. Leaves out kinds of
  // locks whose holder cannot be known.
  [[nodiscard]] UnheldBlocks take_unheld() { return std::exchange(unheld_, {}); }

  // Threads whose locks were not looked at for lack of room, since the start; once for each walk.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  using Block = std::pair<std::uint32_t, std::uint64_t>;  // thread and beginning
  using Place = std::pair<std::uint32_t, std::uint64_t>;  // process and address
  struct Waiter {
    Block block;
    std::uint64_t seen_ns = 0;
    std::uint64_t owner_key = 0;  // offcpud_owner.key; 0: the lock at `place` has it
    LockKind kind = LockKind::Mutex;
    Place place{};
  };
  struct Lock {
    offcpud_lock seen{};  // by one of its waiters
    std::uint32_t tgid = 0, local_tgid = 0, local_tid = 0;
    std::uint64_t owner_key = 0;  // 0: nobody is known to hold it
    bool has_changed = false;     // from one reading of this walk to the next
    bool has_readers = false;     // which hold it
    std::uint32_t waiting = 0;    // threads of this walk
    LockKind kind = LockKind::Mutex;
  };
  struct Read;

  [[nodiscard]] bool has_room(const offcpud_sample& sample);
  void add_known(const offcpud_blocked_record& record);
  void read(std::span<Lock* const> locks);
  void read_again();
  [[nodiscard]] bool was_looked_at(const Waiter& waiter) const;
  [[nodiscard]] LockLook look_at(const Waiter& waiter, bool has_owner) const;
  [[nodiscard]] bool was_another(const Place& place, const Lock& lock) const;
  [[nodiscard]] bool is_sure(const Waiter& waiter) const;
  void note_without(const Waiter& waiter, bool has_owner);
  [[nodiscard]] std::optional<std::pair<std::uint64_t, LockKind>> owner_of(
      const Waiter& waiter) const;
  [[nodiscard]] std::vector<std::uint64_t> owner_keys();

  ProcessMemory& memory_;
  ProcessOwners users_;
  std::vector<Waiter> waiters_;        // of this walk
  std::vector<Block> without_single_;  // of this walk: LockLook::NoSingleHolder
  std::map<Place, Lock> locks_;        // whose memory this walk has read
  std::map<std::uint32_t, std::size_t> of_process_;
  std::map<ShareOwner, std::size_t> of_user_;
  // Of the walk before: holders, sure or not. Nothing: the lock named no living thread.
  std::map<Block, std::optional<LockHolder>> last_;
  std::map<Place, std::uint64_t> last_owners_;  // of the walk before: Lock::owner_key
  UnheldBlocks unheld_;
  std::uint64_t left_out_ = 0;
};

}  // namespace offcpud
