// SPDX-License-Identifier: Apache-2.0
#include "holders/futex_owner.h"

#include <linux/futex.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace offcpud {
namespace {

// Values that a waiter expects in the word.
constexpr std::uint32_t kContended = 2;  // sysdeps/nptl/lowlevellock.h: taken, somebody waits
// nptl/pthread_rwlock_common.c: 1, and PTHREAD_RWLOCK_FUTEX_USED (2), as somebody waits; without
// the 1, the first futex is that of a writer who waits for readers.
constexpr std::uint32_t kRwLockTaken = 3, kRwLockRead = 2;

// nptl/pthreadP.h: recursive and error-checking mutexes are of the kinds 1 and 2, adaptive ones of
// 3. Further bits: shared between processes (0x80), elision (0x100, 0x200).
constexpr std::uint32_t kKindMask = 0x7f;
constexpr std::uint32_t kMostKind = 3;
constexpr std::uint32_t kMostUsers = 32'768;

// nptl/pthread_rwlock_common.c: bits of __readers.
constexpr std::uint32_t kWritePhase = 1, kWriteLocked = 2, kReaderShift = 3;
constexpr std::uint32_t kHandsOver = 1U << 31;  // of __writers

class Words {
 public:
  explicit Words(std::span<const std::byte> around) : around_(around) {}

  // The word at this distance from the futex's.
  [[nodiscard]] std::optional<std::uint32_t> at(std::ptrdiff_t distance) const {
    const auto place = static_cast<std::size_t>(distance + std::ptrdiff_t{kFutexBefore});
    std::uint32_t word = 0;
    if (place + sizeof(word) > around_.size()) return std::nullopt;
    std::memcpy(&word, around_.data() + place, sizeof(word));
    return word;
  }

 private:
  std::span<const std::byte> around_;
};

std::uint32_t command_of(const offcpud_lock& lock) {
  return lock.op & static_cast<std::uint32_t>(FUTEX_CMD_MASK);
}

bool waits(const offcpud_lock& lock) {
  return command_of(lock) == FUTEX_WAIT || command_of(lock) == FUTEX_WAIT_BITSET;
}

std::optional<FutexOwner> found(LockKind kind, std::optional<std::uint32_t> tid) {
  if (!tid || *tid == 0 || *tid > FUTEX_TID_MASK) return std::nullopt;
  return FutexOwner{.kind = kind, .inner_tid = *tid};
}

// struct __pthread_mutex_s: __lock, __count, __owner, __nusers, __kind.
std::optional<FutexOwner> mutex_owner(const Words& words) {
  const auto word = words.at(0), owner = words.at(8), users = words.at(12), kind = words.at(16);
  if (word != kContended || !users || !kind) return std::nullopt;
  if (*users == 0 || *users > kMostUsers || (*kind & ~0x3ffU) != 0) return std::nullopt;
  if ((*kind & kKindMask) > kMostKind) return std::nullopt;
  return found(LockKind::Mutex, owner);
}

// struct __pthread_rwlock_arch_t: __readers, __writers, __wrphase_futex, __writers_futex, two words
// of padding, __cur_writer. Readers wait on the first futex, writers on the second. Only the other
// words tell which one it is; where both fit, nobody can say.
std::optional<FutexOwner> rwlock_owner(const Words& words) {
  std::optional<FutexOwner> only;
  for (const std::ptrdiff_t futex : {8, 12}) {
    const auto readers = words.at(-futex), writer = words.at(24 - futex);
    if (words.at(0) != kRwLockTaken || !readers) continue;
    if ((*readers & (kWritePhase | kWriteLocked)) != (kWritePhase | kWriteLocked)) continue;
    const auto owner = found(LockKind::RwLock, writer);
    if (owner && only) return std::nullopt;
    if (owner) only = owner;
  }
  return only;
}

bool is_one_of(std::optional<std::uint32_t> word, std::uint32_t one, std::uint32_t other) {
  return word == one || word == other;
}

// Whether the lock is that of a writer that waits until readers are gone, or behind such a writer.
// That writer has set __writers_futex before. All words must fit, as a 2 stands in other locks and
// conditions as well.
bool is_of_writer_behind_readers(const Words& words, std::ptrdiff_t futex) {
  const auto readers = words.at(-futex), writers = words.at(4 - futex);
  if (!readers || !writers || (*writers & ~kHandsOver) > kMostUsers) return false;
  if ((*readers & (kWritePhase | kWriteLocked)) != kWriteLocked) return false;
  if (*readers >> kReaderShift == 0 || *readers >> kReaderShift > kMostUsers) return false;
  if (!is_one_of(words.at(8 - futex), 0, kRwLockRead)) return false;
  if (!is_one_of(words.at(12 - futex), 1, kRwLockTaken)) return false;
  constexpr std::ptrdiff_t kZeros[] = {16, 20, 24, 28};  // padding, __cur_writer, __shared
  return std::ranges::all_of(kZeros, [&](auto zero) { return words.at(zero - futex) == 0U; });
}

// The thread says before it waits which robust mutex it wants, so that the kernel can clean up
// after it: list, futex_offset, list_op_pending, whose bit 0 says that the mutex is a PI mutex
// (Documentation/locking/robust-futex-ABI.rst). The low bits of the word are the owner's number.
std::optional<FutexOwner> robust_owner(const offcpud_lock& lock, const Words& words,
                                       std::span<const std::byte> robust_list) {
  std::array<std::uint64_t, 3> head{};
  if (robust_list.size() < sizeof(head)) return std::nullopt;
  std::memcpy(head.data(), robust_list.data(), sizeof(head));
  if ((head[2] & ~std::uint64_t{1}) + head[1] != lock.address) return std::nullopt;
  const auto word = words.at(0);
  if (!word || (*word & FUTEX_WAITERS) == 0) return std::nullopt;
  return found(LockKind::RobustMutex, *word & FUTEX_TID_MASK);
}

}  // namespace

bool may_be_robust(const offcpud_lock& lock) {
  return waits(lock) && (lock.value & FUTEX_WAITERS) != 0 && lock.robust_list != 0;
}

// A lock that other processes may share has the number of a thread which may be in another PID
// namespace. Robust mutexes always look shared (nptl/pthreadP.h, PTHREAD_ROBUST_MUTEX_PSHARED).
bool may_have_owner(const offcpud_lock& lock) {
  if (lock.kind != OFFCPUD_LOCK_FUTEX || lock.address < kFutexBefore) return false;
  const bool is_private = (lock.op & FUTEX_PRIVATE_FLAG) != 0;
  return may_be_robust(lock) ||
         (is_private && waits(lock) && (lock.value == kContended || lock.value == kRwLockTaken));
}

std::optional<FutexOwner> futex_owner(const offcpud_lock& lock, std::span<const std::byte> around,
                                      std::span<const std::byte> robust_list) {
  const Words words(around);
  if (!may_have_owner(lock)) return std::nullopt;
  if (may_be_robust(lock)) return robust_owner(lock, words, robust_list);
  return lock.value == kContended ? mutex_owner(words) : rwlock_owner(words);
}

bool held_by_readers(const offcpud_lock& lock, std::span<const std::byte> around) {
  const Words words(around);
  if (!may_have_owner(lock) || may_be_robust(lock) || words.at(0) != lock.value) return false;
  static_assert(kRwLockRead == kContended);  // may_have_owner() lets both pass
  return is_of_writer_behind_readers(words, lock.value == kRwLockRead ? 8 : 12);
}

}  // namespace offcpud
