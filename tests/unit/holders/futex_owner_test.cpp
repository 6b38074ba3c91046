// SPDX-License-Identifier: Apache-2.0
#include "holders/futex_owner.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace offcpud {
namespace {

using Bytes = std::vector<std::byte>;

template <class Lock>
Bytes around(const Lock& lock, std::size_t futex) {
  Bytes bytes(kFutexBytes + kFutexBefore + sizeof(lock));
  std::memcpy(bytes.data() + kFutexBefore, &lock, sizeof(lock));
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(futex);
  return {begin, begin + kFutexBytes};
}

offcpud_lock waiting(std::uint32_t value, std::uint32_t op = FUTEX_WAIT_PRIVATE) {
  offcpud_lock lock{};
  lock.kind = OFFCPUD_LOCK_FUTEX;
  lock.address = 0x7f0000001000;
  lock.op = op;
  lock.value = value;
  return lock;
}

std::uint32_t own_tid() {
  return static_cast<std::uint32_t>(::gettid());
}

// As the C library of this host lays it out: held by this thread, and somebody waits.
class HeldMutex {
 public:
  explicit HeldMutex(int type, bool robust = false) {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_settype(&attributes, type);
    if (robust) ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    ::pthread_mutex_init(&mutex, &attributes);
    ::pthread_mutex_lock(&mutex);
  }
  ~HeldMutex() {
    ::pthread_mutex_unlock(&mutex);
    ::pthread_mutex_destroy(&mutex);
  }
  HeldMutex(const HeldMutex&) = delete;
  HeldMutex& operator=(const HeldMutex&) = delete;

  // What a waiter would see.
  [[nodiscard]] Bytes contended(std::uint32_t word) const {
    Bytes bytes = around(mutex, 0);
    std::memcpy(bytes.data() + kFutexBefore, &word, sizeof(word));
    return bytes;
  }

  pthread_mutex_t mutex{};
};

TEST(FutexOwner, KnowsMutexesOfThisLibcInAllTheirTypes) {
  for (const int type : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                         PTHREAD_MUTEX_ADAPTIVE_NP}) {
    const HeldMutex held(type);
    const auto owner = futex_owner(waiting(2), held.contended(2), {});
    ASSERT_TRUE(owner) << type;
    EXPECT_EQ(owner->kind, LockKind::Mutex);
    EXPECT_EQ(owner->inner_tid, own_tid());
  }
}

TEST(FutexOwner, AMutexWithATimeLimitIsAskedAnotherWay) {
  const HeldMutex held(PTHREAD_MUTEX_NORMAL);
  const auto owner =
      futex_owner(waiting(2, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG), held.contended(2), {});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->inner_tid, own_tid());
}

TEST(FutexOwner, AMutexThatIsFreeHasNone) {
  HeldMutex held(PTHREAD_MUTEX_NORMAL);
  EXPECT_FALSE(futex_owner(waiting(2), held.contended(1), {})) << "nobody waits any more";
  ::pthread_mutex_unlock(&held.mutex);
  EXPECT_FALSE(futex_owner(waiting(2), held.contended(2), {})) << "between two holders";
  ::pthread_mutex_lock(&held.mutex);
}

// A waiter of the first futex is a reader, one of the second a writer.
TEST(FutexOwner, KnowsTheWriterOfAReadWriteLock) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ::pthread_rwlock_wrlock(&lock);
  for (const std::size_t futex : {std::size_t{8}, std::size_t{12}}) {
    Bytes bytes = around(lock, futex);
    const std::uint32_t taken = 3;
    std::memcpy(bytes.data() + kFutexBefore, &taken, sizeof(taken));
    const auto owner = futex_owner(waiting(3), bytes, {});
    ASSERT_TRUE(owner) << futex;
    EXPECT_EQ(owner->kind, LockKind::RwLock);
    EXPECT_EQ(owner->inner_tid, own_tid());
  }
  ::pthread_rwlock_unlock(&lock);
  ::pthread_rwlock_rdlock(&lock);
  Bytes bytes = around(lock, 12);
  const std::uint32_t taken = 3;
  std::memcpy(bytes.data() + kFutexBefore, &taken, sizeof(taken));
  EXPECT_FALSE(futex_owner(waiting(3), bytes, {})) << "readers leave no name";
  ::pthread_rwlock_unlock(&lock);
}

// Waits until it can write.
class WaitingWriter {
 public:
  explicit WaitingWriter(pthread_rwlock_t& lock)
      : thread_([&lock] {
          ::pthread_rwlock_wrlock(&lock);
          ::pthread_rwlock_unlock(&lock);
        }) {}
  ~WaitingWriter() { thread_.join(); }
  WaitingWriter(const WaitingWriter&) = delete;
  WaitingWriter& operator=(const WaitingWriter&) = delete;

 private:
  std::thread thread_;
};

// What a thread that waits on that futex finds once the word says so.
Bytes around_once(const pthread_rwlock_t& lock, std::size_t futex, std::uint32_t word) {
  for (;;) {
    Bytes bytes = around(lock, futex);
    std::uint32_t now = 0;
    std::memcpy(&now, bytes.data() + kFutexBefore, sizeof(now));
    if (now == word) return bytes;
    std::this_thread::yield();
  }
}

TEST(FutexOwner, ReadersHoldAReadWriteLockTogether) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  ::pthread_rwlock_rdlock(&lock);
  ::pthread_rwlock_rdlock(&lock);
  {
    const WaitingWriter first(lock);
    const Bytes of_first = around_once(lock, 8, 2);
    EXPECT_TRUE(held_by_readers(waiting(2), of_first));
    EXPECT_FALSE(futex_owner(waiting(2), of_first, {})) << "they leave no name";
    const WaitingWriter second(lock);
    const Bytes of_second = around_once(lock, 12, 3);
    EXPECT_TRUE(held_by_readers(waiting(3), of_second));
    EXPECT_FALSE(futex_owner(waiting(3), of_second, {}));
    EXPECT_FALSE(held_by_readers(waiting(3), of_first)) << "not what it waits for";
    EXPECT_FALSE(held_by_readers(waiting(2, FUTEX_WAIT), of_first)) << "shared by processes";
    EXPECT_FALSE(held_by_readers(waiting(2), std::span(of_first).first(39))) << "not all was read";
    ::pthread_rwlock_unlock(&lock);
    ::pthread_rwlock_unlock(&lock);
  }
  ::pthread_rwlock_wrlock(&lock);
  EXPECT_FALSE(held_by_readers(waiting(2), around(lock, 8))) << "a writer holds it";
  ::pthread_rwlock_unlock(&lock);
  const HeldMutex held(PTHREAD_MUTEX_NORMAL);
  EXPECT_FALSE(held_by_readers(waiting(2), held.contended(2)));
}

// Words of other locks and conditions may look like it for the most part.
TEST(FutexOwner, ReadersAreToldOnlyIfEachWordFits) {
  // __readers, __writers, __wrphase_futex, __writers_futex, two words of padding, __cur_writer,
  // __shared
  const std::vector<std::uint32_t> fits = {0x8 | 2, 0, 2, 1, 0, 0, 0, 0};
  const auto told = [](const std::vector<std::uint32_t>& words) {
    Bytes bytes(kFutexBytes);
    std::memcpy(bytes.data() + kFutexBefore - 8, words.data(), words.size() * sizeof(words[0]));
    return held_by_readers(waiting(2), bytes);
  };
  EXPECT_TRUE(told(fits));
  const std::pair<std::size_t, std::uint32_t> others[] = {
      {0, 0x8 | 3}, {0, 0x8}, {0, 2}, {0, 40'000U << 3U | 2},
      {1, 40'000},  {2, 1},   {3, 0}, {3, 5},
      {4, 1},       {5, 1},   {6, 7}, {7, 1}};
  for (const auto& [place, word] : others) {
    std::vector<std::uint32_t> words = fits;
    words[place] = word;
    EXPECT_FALSE(told(words)) << "word " << place << " is " << word;
  }
  EXPECT_FALSE(told({0x1234'567a, 0, 2, 0, 0, 0, 0, 0})) << "a time, then a lock of Go";
}

// struct robust_list_head: list, futex_offset, list_op_pending.
Bytes robust_list(std::uint64_t offset, std::uint64_t pending) {
  const std::uint64_t words[] = {0, offset, pending};
  Bytes bytes(sizeof(words));
  std::memcpy(bytes.data(), words, sizeof(words));
  return bytes;
}

TEST(FutexOwner, ARobustMutexIsOneThatTheThreadSaysItWants) {
  const HeldMutex held(PTHREAD_MUTEX_NORMAL, true);
  const std::uint32_t word = own_tid() | FUTEX_WAITERS;
  offcpud_lock lock = waiting(word);
  EXPECT_FALSE(may_have_owner(lock)) << "it has no list";
  lock.robust_list = 0x7f0000002000;
  const auto offset = static_cast<std::uint64_t>(-32);
  const auto owner =
      futex_owner(lock, held.contended(word), robust_list(offset, lock.address + 32));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->kind, LockKind::RobustMutex);
  EXPECT_EQ(owner->inner_tid, own_tid());
  EXPECT_FALSE(futex_owner(lock, held.contended(word), robust_list(offset, lock.address + 64)))
      << "another one";
  EXPECT_FALSE(futex_owner(lock, held.contended(word), {})) << "its list could not be read";
  EXPECT_FALSE(futex_owner(lock, held.contended(own_tid()), robust_list(offset, lock.address + 32)))
      << "nobody waits";
}

// As musl's normal mutexes: a word that looks like the number of a thread.
TEST(FutexOwner, WhatOnlyLooksLikeALockHasNone) {
  offcpud_lock lock = waiting(16 | FUTEX_WAITERS);
  lock.robust_list = 0x7f0000002000;
  Bytes bytes(kFutexBytes);
  const std::uint32_t word = lock.value;
  std::memcpy(bytes.data() + kFutexBefore, &word, sizeof(word));
  EXPECT_FALSE(futex_owner(lock, bytes, robust_list(0, 0)));

  const HeldMutex held(PTHREAD_MUTEX_NORMAL);
  Bytes mutex = held.contended(2);
  const std::uint32_t users = 0;
  std::memcpy(mutex.data() + kFutexBefore + 12, &users, sizeof(users));
  EXPECT_FALSE(futex_owner(waiting(2), mutex, {})) << "nobody uses it";
  mutex = held.contended(2);
  const std::uint32_t kind = 0x12345;
  std::memcpy(mutex.data() + kFutexBefore + 16, &kind, sizeof(kind));
  EXPECT_FALSE(futex_owner(waiting(2), mutex, {})) << "there is no such kind";
}

TEST(FutexOwner, IsAskedForWaitsOnly) {
  const HeldMutex held(PTHREAD_MUTEX_NORMAL);
  EXPECT_TRUE(may_have_owner(waiting(2)));
  EXPECT_FALSE(may_have_owner(waiting(0))) << "Go, semaphores";
  EXPECT_FALSE(may_have_owner(waiting(1)));
  EXPECT_FALSE(may_have_owner(waiting(2, FUTEX_LOCK_PI_PRIVATE))) << "the kernel knows";
  EXPECT_FALSE(futex_owner(waiting(2, FUTEX_WAKE_PRIVATE), held.contended(2), {}));
  offcpud_lock low = waiting(2);
  low.address = 8;
  EXPECT_FALSE(may_have_owner(low)) << "there is nothing before it";
}

TEST(FutexOwner, MemoryThatEndsEarlyHasNone) {
  const HeldMutex held(PTHREAD_MUTEX_NORMAL);
  const Bytes whole = held.contended(2);
  for (std::size_t size = 0; size < kFutexBefore + 20; ++size) {
    EXPECT_FALSE(futex_owner(waiting(2), std::span(whole).first(size), {})) << size;
  }
}

}  // namespace
}  // namespace offcpud
