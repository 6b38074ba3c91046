// SPDX-License-Identifier: Apache-2.0
#include "sampler/holder_finder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <unordered_map>

#include "sampler/lock_owner.h"

namespace offcpud {
namespace {

constexpr std::size_t kRobustBytes = 24;  // of struct robust_list_head

std::optional<LockKind> kind_known_to_kernel(std::uint32_t kind) {
  switch (kind) {
    case OFFCPUD_LOCK_PI:
      return LockKind::PiMutex;
    case OFFCPUD_LOCK_MUTEX:
      return LockKind::KernelMutex;
    case OFFCPUD_LOCK_RWSEM:
      return LockKind::KernelRwsem;
    case OFFCPUD_LOCK_FILE:
      return LockKind::File;
    default:
      return std::nullopt;
  }
}

}  // namespace

// What is read of one lock: what is around its word, and the waiter's list of robust mutexes.
struct HolderFinder::Read {
  std::array<std::byte, kFutexBytes> around{};
  std::array<std::byte, kRobustBytes> robust{};
};

bool HolderFinder::has_room(const offcpud_sample& sample) {
  std::size_t& of_process = of_process_[sample.tgid];
  bool fits = locks_.size() < kMost && of_process < kMostOfProcess;
  if (fits && locks_.size() >= kMostFree) {
    std::size_t& of_user = of_user_[users_.of(sample)];
    fits = of_user < kMostOfUser;
    if (fits) ++of_user;
  }
  ++(fits ? of_process : left_out_);
  return fits;
}

void HolderFinder::add_known(const offcpud_blocked_record& record) {
  const offcpud_sample& sample = record.sample;
  const auto kind = kind_known_to_kernel(record.lock.kind);
  if (!kind) return;
  if (record.lock.owner_tid == 0) {
    const bool many_may_hold_it = *kind == LockKind::File || *kind == LockKind::KernelRwsem;
    if (many_may_hold_it) without_single_.emplace_back(sample.tid, sample.since_ns);
    return;
  }
  // A process that waits for a file lock of its own would not wait. A PI mutex is handed over
  // before its new owner wakes.
  const std::uint32_t self = *kind == LockKind::File ? sample.tgid : sample.tid;
  if (record.lock.owner_tid == self) return;
  waiters_.push_back({.block = {sample.tid, sample.since_ns},
                      .seen_ns = sample.ended_ns,
                      .owner_key = OFFCPUD_OWNER_BY_TID | record.lock.owner_tid,
                      .kind = *kind});
}

void HolderFinder::add(std::span<const offcpud_blocked_record> records) {
  std::vector<Lock*> wanted;
  for (const offcpud_blocked_record& record : records) {
    const offcpud_sample& sample = record.sample;
    if (!may_have_owner(record.lock)) {
      add_known(record);
      continue;
    }
    const Place place(sample.tgid, record.lock.address);
    waiters_.push_back(
        {.block = {sample.tid, sample.since_ns}, .seen_ns = sample.ended_ns, .place = place});
    if (const auto known = locks_.find(place); known != locks_.end()) {
      ++known->second.waiting;
      continue;
    }
    if (!has_room(sample)) continue;
    Lock& lock = locks_[place];
    lock.waiting = 1;
    lock.seen = record.lock;
    lock.tgid = sample.tgid;
    lock.local_tgid = sample.local_tgid;
    lock.local_tid = sample.local_tid;
    wanted.push_back(&lock);
  }
  read(wanted);
}

void HolderFinder::read(std::span<Lock* const> locks) {
  if (locks.empty()) return;
  std::vector<Read> reads(locks.size());
  std::vector<MemoryPiece> pieces;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    const Lock& lock = *locks[i];
    pieces.push_back(
        {lock.local_tgid, lock.local_tid, lock.seen.address - kFutexBefore, reads[i].around});
    if (!may_be_robust(lock.seen)) continue;
    pieces.push_back({lock.local_tgid, lock.local_tid, lock.seen.robust_list, reads[i].robust});
  }
  memory_.read(pieces);
  auto piece = pieces.begin();
  for (Lock* const lock : locks) {
    const auto got = [](const MemoryPiece& read) { return read.to.first(read.got); };
    const auto around = got(*piece++);
    const auto robust = may_be_robust(lock->seen) ? got(*piece++) : std::span<std::byte>();
    const auto owner = futex_owner(lock->seen, around, robust);
    lock->owner_key = owner ? offcpud_owner_key(lock->tgid, owner->inner_tid) : 0;
    lock->has_readers = !owner && held_by_readers(lock->seen, around);
    if (owner) lock->kind = owner->kind;
  }
}

// A lock whose memory says something else by now changes hands.
void HolderFinder::read_again() {
  std::vector<Lock*> held;
  std::vector<std::uint64_t> before;
  for (auto& [place, lock] : locks_) {
    if (lock.owner_key == 0) continue;
    held.push_back(&lock);
    before.push_back(lock.owner_key);
  }
  constexpr std::size_t kAtOnce = 96;
  for (std::size_t i = 0; i < held.size(); i += kAtOnce) {
    read(std::span(held).subspan(i, std::min(kAtOnce, held.size() - i)));
  }
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i]->owner_key == before[i]) continue;
    held[i]->owner_key = 0;
    held[i]->has_changed = true;
  }
}

std::optional<std::pair<std::uint64_t, LockKind>> HolderFinder::owner_of(
    const Waiter& waiter) const {
  if (waiter.owner_key != 0) return std::pair(waiter.owner_key, waiter.kind);
  const auto lock = locks_.find(waiter.place);
  if (lock == locks_.end() || lock->second.owner_key == 0) return std::nullopt;
  return std::pair(lock->second.owner_key, lock->second.kind);
}

// Otherwise there was no room.
bool HolderFinder::was_looked_at(const Waiter& waiter) const {
  return waiter.owner_key != 0 || locks_.contains(waiter.place);
}

// Whether the walk before saw another holder, or none, while somebody waited.
bool HolderFinder::was_another(const Place& place, const Lock& lock) const {
  const auto before = last_owners_.find(place);
  return before != last_owners_.end() && before->second != lock.owner_key;
}

// Whether the holder that this walk saw has had the lock for as long as the thread waits.
bool HolderFinder::is_sure(const Waiter& waiter) const {
  if (waiter.seen_ns - waiter.block.second < kSureNs) return false;
  const auto lock = waiter.owner_key == 0 ? locks_.find(waiter.place) : locks_.end();
  return lock != locks_.end() && lock->second.waiting == 1 &&
         !was_another(waiter.place, lock->second);
}

// Other waiters may have looked at the lock before: in a convoy each wait is a new one.
LockLook HolderFinder::look_at(const Waiter& waiter, bool has_owner) const {
  const auto lock = waiter.owner_key == 0 ? locks_.find(waiter.place) : locks_.end();
  if (lock != locks_.end() && lock->second.has_changed) return LockLook::ChangesHands;
  if (lock != locks_.end() && lock->second.has_readers) return LockLook::NoSingleHolder;
  if (!has_owner) return LockLook::NamesNobody;
  if (last_.contains(waiter.block)) return LockLook::ChangesHands;
  if (lock == locks_.end()) return LockLook::SeenOnce;
  return was_another(waiter.place, lock->second) ? LockLook::ChangesHands : LockLook::SeenOnce;
}

void HolderFinder::note_without(const Waiter& waiter, bool has_owner) {
  if (was_looked_at(waiter)) unheld_.emplace(waiter.block, look_at(waiter, has_owner));
}

// Those that the kernel knows come first, as no program chooses them.
std::vector<std::uint64_t> HolderFinder::owner_keys() {
  std::vector<std::uint64_t> keys;
  for (const Waiter& waiter : waiters_) {
    if (const auto owner = owner_of(waiter)) keys.push_back(owner->first);
  }
  std::ranges::sort(keys, std::ranges::greater());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (keys.size() > OFFCPUD_OWNERS) {
    left_out_ += keys.size() - OFFCPUD_OWNERS;
    keys.resize(OFFCPUD_OWNERS);
  }
  return keys;
}

Result<HeldBlocks> HolderFinder::find(StackSource& kernel) {
  read_again();
  const std::vector<std::uint64_t> keys = owner_keys();
  auto owners = keys.empty() ? Result<std::vector<offcpud_owner>>(std::vector<offcpud_owner>())
                             : kernel.find_owners(keys);
  std::unordered_map<std::uint64_t, const offcpud_owner*> by_key;
  if (owners) {
    for (const offcpud_owner& owner : *owners) by_key.emplace(owner.key, &owner);
  }
  HeldBlocks held;
  unheld_.clear();
  for (const Block& block : std::exchange(without_single_, {})) {
    unheld_.emplace(block, LockLook::NoSingleHolder);
  }
  std::map<Block, std::optional<LockHolder>> now;
  for (const Waiter& waiter : waiters_) {
    const auto lock = owner_of(waiter);
    const auto owner = lock ? by_key.find(lock->first) : by_key.end();
    if (owner == by_key.end()) {
      if (!lock) note_without(waiter, false);  // else its holder has ended
      if (was_looked_at(waiter)) now.emplace(waiter.block, std::nullopt);
      continue;
    }
    const LockHolder holder = holder_of(*owner->second, lock->second);
    const auto before = last_.find(waiter.block);
    const bool agrees = before != last_.end() && before->second && before->second->same_as(holder);
    if (agrees || is_sure(waiter)) {
      held.emplace(waiter.block, std::make_shared<const LockHolder>(holder));
    } else {
      note_without(waiter, true);
    }
    now.emplace(waiter.block, holder);
  }
  last_owners_.clear();
  for (const auto& [place, lock] : locks_) last_owners_.emplace(place, lock.owner_key);
  waiters_.clear();
  locks_.clear();
  of_process_.clear();
  of_user_.clear();
  last_.clear();
  if (!owners) return std::move(owners).error();
  last_ = std::move(now);
  return held;
}

}  // namespace offcpud
