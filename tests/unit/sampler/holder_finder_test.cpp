// SPDX-License-Identifier: Apache-2.0
#include "sampler/holder_finder.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "support/fake_clock.h"
#include "support/times.h"
#include "unit/sampler/fake_stack_source.h"

namespace offcpud::test {
namespace {

// A kernel in which these threads live.
class ThreadsOfKernel final : public IdleStackSource {
 public:
  void add(std::uint64_t key, std::uint32_t tid, const char* comm) {
    offcpud_owner owner{};
    owner.key = key;
    owner.tid = owner.local_tid = tid;
    owner.process.tgid = owner.process.local_tgid = 100;
    owner.process.process_start_ns = 1;
    owner.process.cgroup_id = 7;
    std::strncpy(owner.comm, comm, sizeof(owner.comm) - 1);
    owners_[key] = owner;
  }
  Result<std::vector<offcpud_owner>> find_owners(std::span<const std::uint64_t> keys) override {
    ++walks;
    std::vector<offcpud_owner> found;
    for (const std::uint64_t key : keys) {
      if (const auto owner = owners_.find(key); owner != owners_.end())
        found.push_back(owner->second);
    }
    return found;
  }

  int walks = 0;

 private:
  std::map<std::uint64_t, offcpud_owner> owners_;
};

class HolderFinderTest : public testing::Test {
 protected:
  HolderFinderTest() {
    ::pthread_mutex_lock(&mutex_);
    mutex_.__data.__lock = 2;  // as if somebody waited
  }
  ~HolderFinderTest() override {
    mutex_.__data.__lock = 1;
    ::pthread_mutex_unlock(&mutex_);
  }

  static std::uint32_t self() { return static_cast<std::uint32_t>(::getpid()); }

  // A thread of this process that has waited for so long.
  static offcpud_blocked_record blocked(std::uint32_t tid, std::uint64_t age_ns) {
    offcpud_blocked_record record{};
    record.sample.tid = record.sample.local_tid = tid;
    record.sample.tgid = record.sample.local_tgid = self();
    record.sample.since_ns = 5;
    record.sample.ended_ns = 5 + age_ns;
    return record;
  }
  offcpud_blocked_record waits_for_mutex(std::uint32_t tid, std::uint64_t age_ns) {
    offcpud_blocked_record record = blocked(tid, age_ns);
    record.sample.local_tid = self();  // whose memory is read
    record.lock.kind = OFFCPUD_LOCK_FUTEX;
    record.lock.address = reinterpret_cast<std::uint64_t>(&mutex_);
    record.lock.op = FUTEX_WAIT_PRIVATE;
    record.lock.value = 2;
    return record;
  }
  static offcpud_blocked_record waits_in_kernel(std::uint32_t tid, std::uint32_t owner,
                                                std::uint32_t kind) {
    offcpud_blocked_record record = blocked(tid, 2 * kSecond);
    record.lock.kind = kind;
    record.lock.owner_tid = owner;
    return record;
  }

  HeldBlocks look(const std::vector<offcpud_blocked_record>& records) {
    finder_.add(records);
    auto held = finder_.find(kernel_);
    EXPECT_TRUE(held);
    return held ? *std::move(held) : HeldBlocks();
  }
  void holder_lives(std::uint32_t tid = 42) {
    kernel_.add(offcpud_owner_key(self(), static_cast<std::uint32_t>(::gettid())), tid, "holder");
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  DirectProcessMemory memory_;
  ThreadsOfKernel kernel_;
  HolderFinder finder_{memory_};
};

TEST_F(HolderFinderTest, NamesTheThreadWhoseNumberIsInTheLock) {
  holder_lives();
  const HeldBlocks held = look({waits_for_mutex(11, kSecond)});
  ASSERT_EQ(held.size(), 1U) << "who waits alone would have been woken by another holder";
  const LockHolder& holder = *held.begin()->second;
  EXPECT_EQ(holder.kind, LockKind::Mutex);
  EXPECT_EQ(holder.tid, 42U);
  EXPECT_STREQ(holder.comm.data(), "holder");
  EXPECT_EQ(holder.process.tgid, 100U);
  EXPECT_EQ(holder.process.cgroup_id, 7U);
}

TEST_F(HolderFinderTest, AHolderThatDoesNotLiveIsNone) {
  EXPECT_TRUE(look({waits_for_mutex(11, 2 * kSecond)}).empty());
  EXPECT_TRUE(finder_.take_unheld().empty());
}

TEST_F(HolderFinderTest, AShortWaitNeedsTwoLooksThatAgree) {
  holder_lives();
  const std::vector waiter = {waits_for_mutex(11, kSecond / 2)};
  EXPECT_TRUE(look(waiter).empty());
  EXPECT_EQ(look(waiter).size(), 1U);
  holder_lives(43);
  EXPECT_TRUE(look(waiter).empty()) << "it changes hands";
}

// The holder that one look sees may have the lock for a moment, while each waits for all others.
TEST_F(HolderFinderTest, SeveralWaitersNeedTwoLooksThatAgree) {
  holder_lives();
  const std::vector both = {waits_for_mutex(11, 20 * kSecond), waits_for_mutex(12, kSecond)};
  EXPECT_TRUE(look(both).empty());
  const UnheldBlocks first = finder_.take_unheld();
  ASSERT_EQ(first.size(), 2U);
  for (const auto& [block, seen] : first) EXPECT_EQ(seen, LockLook::SeenOnce);
  EXPECT_EQ(look(both).size(), 2U);
}

// 60 threads, each of which has the lock for 20 ms: all wait for 1.2 s, and none twice as long.
TEST_F(HolderFinderTest, AConvoyOfLongWaitsNamesNobody) {
  for (std::uint32_t at = 0; at < 8; ++at) {
    const std::uint32_t owner = self() + 1 + 7 * at % 5;  // one of them, sometimes the same again
    kernel_.add(offcpud_owner_key(self(), owner), 1'000 + owner, "one of many");
    const auto before = std::exchange(mutex_.__data.__owner, static_cast<int>(owner));
    std::vector<offcpud_blocked_record> waiters;
    for (std::uint32_t i = 0; i < 59; ++i) {
      waiters.push_back(waits_for_mutex(1'000 + i, (400 + 20 * i) * kSecond / 1000));
      waiters.back().sample.since_ns += at;  // a wait of its own
      waiters.back().sample.ended_ns += at;
    }
    EXPECT_TRUE(look(waiters).empty()) << at;
    mutex_.__data.__owner = before;
    EXPECT_EQ(finder_.take_unheld().size(), 59U);
  }
}

// Who waits alone now may have been one of many a moment ago.
TEST_F(HolderFinderTest, AnotherHolderAtTheLookBeforeIsNotForgotten) {
  holder_lives();
  const auto owner = std::exchange(mutex_.__data.__owner, static_cast<int>(self() + 1));
  EXPECT_TRUE(look({waits_for_mutex(11, kSecond / 2)}).empty());
  mutex_.__data.__owner = owner;
  EXPECT_TRUE(look({waits_for_mutex(12, 5 * kSecond)}).empty());
  EXPECT_EQ(finder_.take_unheld().begin()->second, LockLook::ChangesHands);
  EXPECT_EQ(look({waits_for_mutex(12, 15 * kSecond)}).size(), 1U);
}

// However long its waiters have waited: a convoy of very many.
TEST_F(HolderFinderTest, ALockThatChangesHandsWithinALookHasNoHolder) {
  holder_lives();
  finder_.add(std::vector{waits_for_mutex(11, 20 * kSecond)});
  const auto before = std::exchange(mutex_.__data.__owner, 4'711);
  auto held = finder_.find(kernel_);
  mutex_.__data.__owner = before;
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->empty());
}

// What is said instead of a holder.
TEST_F(HolderFinderTest, OfALockWithoutAHolderItTellsWhatWasSeen) {
  holder_lives();
  const offcpud_blocked_record young = waits_for_mutex(11, kSecond / 2);
  EXPECT_TRUE(look({young}).empty());
  const UnheldBlocks first = finder_.take_unheld();
  ASSERT_EQ(first.size(), 1U) << "somebody held it, but once";
  EXPECT_EQ(first.begin()->first,
            (std::pair<std::uint32_t, std::uint64_t>(11, young.sample.since_ns)));
  EXPECT_EQ(first.begin()->second, LockLook::SeenOnce);
  EXPECT_TRUE(finder_.take_unheld().empty());

  EXPECT_EQ(look({young}).size(), 1U);
  EXPECT_TRUE(finder_.take_unheld().empty()) << "its holder is told";

  finder_.add(std::vector{waits_for_mutex(12, 20 * kSecond)});
  const auto before = std::exchange(mutex_.__data.__owner, 4'711);
  EXPECT_TRUE(finder_.find(kernel_));
  EXPECT_EQ(finder_.take_unheld().begin()->second, LockLook::ChangesHands) << "within one look";
  mutex_.__data.__owner = 0;
  EXPECT_TRUE(look({waits_for_mutex(13, 2 * kSecond)}).empty());
  EXPECT_EQ(finder_.take_unheld().begin()->second, LockLook::NamesNobody) << "it is free";
  mutex_.__data.__owner = before;

  EXPECT_TRUE(look({waits_in_kernel(14, 0, OFFCPUD_LOCK_MUTEX), blocked(15, kSecond)}).empty());
  EXPECT_TRUE(finder_.take_unheld().empty()) << "nobody can see such holders";
}

// Which of several processes, or of several readers, is in the way, the kernel does not say.
TEST_F(HolderFinderTest, OfLocksThatManyMayHoldItSaysSo) {
  for (const auto kind : {OFFCPUD_LOCK_FILE, OFFCPUD_LOCK_RWSEM}) {
    EXPECT_TRUE(look({waits_in_kernel(14, 0, kind)}).empty());
    const UnheldBlocks unheld = finder_.take_unheld();
    ASSERT_EQ(unheld.size(), 1U);
    EXPECT_EQ(unheld.begin()->second, LockLook::NoSingleHolder);
  }
  EXPECT_TRUE(look({}).empty());
  EXPECT_TRUE(finder_.take_unheld().empty()) << "each look by itself";
}

// The memory of a read-write lock counts them, and has no names.
TEST_F(HolderFinderTest, OfALockThatReadersHoldItSaysSo) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  constexpr unsigned kOneReader = 1U << 3U, kWriterWaits = 2;
  lock.__data.__readers = kOneReader | kWriterWaits;
  lock.__data.__wrphase_futex = 2;
  lock.__data.__writers_futex = 1;
  offcpud_blocked_record writer = waits_for_mutex(11, kSecond);
  writer.lock.address = reinterpret_cast<std::uint64_t>(&lock.__data.__wrphase_futex);
  EXPECT_TRUE(look({writer}).empty());
  const UnheldBlocks unheld = finder_.take_unheld();
  ASSERT_EQ(unheld.size(), 1U);
  EXPECT_EQ(unheld.begin()->second, LockLook::NoSingleHolder);
  lock.__data.__readers = kWriterWaits;
  EXPECT_TRUE(look({writer}).empty());
  EXPECT_EQ(finder_.take_unheld().begin()->second, LockLook::NamesNobody) << "they have gone";
}

// One look says nothing of many holders.
TEST_F(HolderFinderTest, ALockChangesHandsIfTwoLooksDiffer) {
  kernel_.add(OFFCPUD_OWNER_BY_TID | 50, 50, "writer");
  kernel_.add(OFFCPUD_OWNER_BY_TID | 51, 51, "other");
  const auto seen = [this](const offcpud_blocked_record& record) {
    EXPECT_TRUE(look({record}).empty());
    return finder_.take_unheld().begin()->second;
  };
  EXPECT_EQ(seen(waits_in_kernel(11, 50, OFFCPUD_LOCK_FILE)), LockLook::SeenOnce);
  EXPECT_EQ(seen(waits_in_kernel(11, 51, OFFCPUD_LOCK_FILE)), LockLook::ChangesHands);
  EXPECT_EQ(seen(waits_in_kernel(12, 51, OFFCPUD_LOCK_FILE)), LockLook::SeenOnce) << "a new wait";

  holder_lives();
  const auto owner = std::exchange(mutex_.__data.__owner, 0);
  EXPECT_EQ(seen(waits_for_mutex(13, kSecond / 2)), LockLook::NamesNobody);
  mutex_.__data.__owner = owner;
  EXPECT_EQ(seen(waits_for_mutex(13, kSecond / 2)), LockLook::ChangesHands) << "it was free before";
}

// Each of its waits is too short for two looks.
TEST_F(HolderFinderTest, AConvoyOfNewWaitsChangesHands) {
  holder_lives();
  EXPECT_TRUE(look({waits_for_mutex(11, kSecond / 2)}).empty());
  EXPECT_EQ(finder_.take_unheld().begin()->second, LockLook::SeenOnce);
  EXPECT_TRUE(look({waits_for_mutex(12, kSecond / 2)}).empty());
  EXPECT_EQ(finder_.take_unheld().begin()->second, LockLook::SeenOnce) << "by the same thread";
  const auto before = std::exchange(mutex_.__data.__owner, static_cast<int>(self() + 1));
  kernel_.add(offcpud_owner_key(self(), self() + 1), 43, "next");
  EXPECT_TRUE(look({waits_for_mutex(13, kSecond / 2)}).empty());
  mutex_.__data.__owner = before;
  EXPECT_EQ(finder_.take_unheld().begin()->second, LockLook::ChangesHands);
}

// It waits for ever: it took the mutex twice.
TEST_F(HolderFinderTest, AThreadMayHoldTheMutexThatItWaitsFor) {
  holder_lives(11);
  const HeldBlocks held = look({waits_for_mutex(11, 2 * kSecond)});
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held.begin()->second->tid, 11U);
}

TEST_F(HolderFinderTest, ALockOfTheKernelHasAnotherHolder) {
  kernel_.add(OFFCPUD_OWNER_BY_TID | 12, 12, "self");
  EXPECT_TRUE(look({waits_in_kernel(12, 12, OFFCPUD_LOCK_PI)}).empty()) << "just handed over";
  kernel_.add(OFFCPUD_OWNER_BY_TID | self(), self(), "self");
  EXPECT_TRUE(look({waits_in_kernel(12, self(), OFFCPUD_LOCK_FILE)}).empty());
}

TEST_F(HolderFinderTest, TheKernelKnowsSomeHolders) {
  kernel_.add(OFFCPUD_OWNER_BY_TID | 50, 50, "writer");
  const std::map<std::uint32_t, LockKind> kinds = {{OFFCPUD_LOCK_PI, LockKind::PiMutex},
                                                   {OFFCPUD_LOCK_MUTEX, LockKind::KernelMutex},
                                                   {OFFCPUD_LOCK_RWSEM, LockKind::KernelRwsem},
                                                   {OFFCPUD_LOCK_FILE, LockKind::File}};
  for (const auto& [kind, expected] : kinds) {
    const std::vector waiter = {waits_in_kernel(11, 50, kind)};
    EXPECT_TRUE(look(waiter).empty()) << "once may be by chance";
    const HeldBlocks held = look(waiter);
    ASSERT_EQ(held.size(), 1U) << kind;
    EXPECT_EQ(held.begin()->second->kind, expected);
  }
}

TEST_F(HolderFinderTest, NothingIsAskedWhereNobodyWaitsForALock) {
  EXPECT_TRUE(look({blocked(11, kSecond)}).empty());
  EXPECT_TRUE(look({waits_in_kernel(11, 0, OFFCPUD_LOCK_MUTEX)}).empty());
  EXPECT_EQ(kernel_.walks, 0);
}

// So that no program takes the room of others.
TEST_F(HolderFinderTest, OneProcessHasARoomOfItsOwn) {
  holder_lives();
  std::vector<offcpud_blocked_record> crowd;
  for (std::uint32_t i = 0; i < HolderFinder::kMostOfProcess + 10; ++i) {
    crowd.push_back(waits_for_mutex(1'000 + i, 2 * kSecond));
    crowd.back().sample.tgid = 7;
    crowd.back().lock.address = 0x1000 + 64 * i;
  }
  crowd.push_back(waits_for_mutex(11, 2 * kSecond));
  EXPECT_EQ(look(crowd).size(), 1U);
  EXPECT_EQ(finder_.left_out(), 10U);
}

}  // namespace
}  // namespace offcpud::test
