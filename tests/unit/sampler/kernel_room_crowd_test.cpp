// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "unit/sampler/kernel_room_fixture.h"

// Another user's program gets its turn beside hundreds of processes of an attacker.

namespace offcpud {
namespace {

constexpr std::uint32_t kVictim = 20, kFirstOfCrowd = 1000;
constexpr std::uint32_t kAttacker = 65534;

struct KernelRoomCrowdTest : KernelRoomTest {
  KernelRoomCrowdTest() { users[kVictim] = 1000; }
  // A process executes a program, whose first mapping has to wait.
  void executes(std::uint32_t tgid) {
    EXPECT_TRUE(room->ended(tgid));
    EXPECT_TRUE(room->began(tgid, 0));
    room->put_later(tgid, kPage);
  }
  void attackers_execute(std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t tgid = first; tgid < first + count; ++tgid) {
      users[tgid] = kAttacker;
      executes(tgid);
    }
  }
  // Steps until the victim is put in.
  int steps_of_victim(int most) {
    for (int done = 1; done <= most; ++done) {
      now += std::chrono::milliseconds(20);
      if (next() == kVictim) return done;
    }
    return most + 1;
  }
};

TEST_F(KernelRoomCrowdTest, LoopsOfExecutionTakeNoPlaces) {
  for (int i = 0; i < 100; ++i) attackers_execute(kFirstOfCrowd, 100);
  executes(kVictim);
  attackers_execute(kFirstOfCrowd, 100);
  EXPECT_LE(steps_of_victim(50), 3);
}

TEST_F(KernelRoomCrowdTest, ManyWhoCameBeforeDoNotDelayOne) {
  attackers_execute(kFirstOfCrowd, 4000);
  executes(kVictim);
  EXPECT_LE(steps_of_victim(50), 3);
}

TEST_F(KernelRoomCrowdTest, ThoseWhoComeLaterDoNotDelayOneForGood) {
  attackers_execute(kFirstOfCrowd, 100);
  executes(kVictim);
  int steps = 0;
  for (std::uint32_t first = 10'000; steps < 50; first += 100, ++steps) {
    attackers_execute(first, 100);
    now += std::chrono::milliseconds(20);
    if (next() == kVictim) break;
  }
  EXPECT_LE(steps, 16);
}

TEST_F(KernelRoomCrowdTest, WhoExecutesAgainDoesNotWaitToBeAskedFor) {
  attackers_execute(kFirstOfCrowd, 100);
  now += std::chrono::seconds(1);
  while (next()) continue;
  EXPECT_EQ(asked, 100U);
  attackers_execute(kFirstOfCrowd, 100);
  EXPECT_TRUE(next());
  EXPECT_EQ(asked, 101U) << "the one whose turn it was, as it may be another user's now";
}

TEST_F(KernelRoomCrowdTest, TheUserIsTheOneOfNow) {
  users[kFirstOfCrowd] = 0;
  executes(kFirstOfCrowd);
  now += std::chrono::seconds(1);
  EXPECT_EQ(next_entry()->user, 0U);
  users[kFirstOfCrowd] = kAttacker;
  executes(kFirstOfCrowd);
  const auto entering = next_entry();
  ASSERT_TRUE(entering);
  EXPECT_EQ(entering->tgid, kFirstOfCrowd);
  EXPECT_EQ(entering->user, kAttacker);
}

// 64 entries of each process without waiting, but not of any number of processes.
TEST_F(KernelRoomCrowdTest, ManyProcessesOfOneUserDoNotHaveManyTimesAsMuchAtOnce) {
  (void)room->user_of(kVictim);
  std::size_t entries = 0;
  for (std::uint32_t tgid = kFirstOfCrowd; tgid < kFirstOfCrowd + 1000; ++tgid) {
    users[tgid] = kAttacker;
    (void)room->user_of(tgid);
    if (room->has_time_for(tgid, 64)) entries += 64;
  }
  EXPECT_EQ(entries, 4'096U);
  EXPECT_TRUE(room->has_time_for(kVictim, 64)) << "another user's";
  EXPECT_FALSE(room->has_time_for(kVictim, 1));
  now += std::chrono::seconds(1);
  (void)room->has_time(now);
  spend(std::chrono::milliseconds(100));
  EXPECT_TRUE(room->has_time_for(kFirstOfCrowd, 64)) << "in the next second";
}

// Nobody knows whose they are, as they were never made to wait. Those that have to are asked.
TEST_F(KernelRoomCrowdTest, ManyProcessesOfNobodyDoNotTakeATurnFromAnybody) {
  std::size_t entries = 0;
  for (std::uint32_t tgid = kFirstOfCrowd; tgid < kFirstOfCrowd + 1000; ++tgid) {
    users[tgid] = kAttacker;
    if (room->has_time_for(tgid, 64)) {
      entries += 64;
    } else {
      executes(tgid);
    }
  }
  EXPECT_EQ(entries, 4'096U);
  EXPECT_EQ(asked, 0U);
  EXPECT_FALSE(room->has_time_for(kVictim, 64));
  executes(kVictim);
  EXPECT_LE(steps_of_victim(50), 3);
}

struct KernelRoomRemovalTest : KernelRoomCrowdTest {
  KernelRoomRemovalTest() {
    maps.max_mappings = 50'000;
    for (std::uint32_t tgid = kFirstOfCrowd; tgid < kFirstOfCrowd + 100; ++tgid) {
      users[tgid] = kAttacker;
      EXPECT_EQ(put(tgid, 100), 100U);
    }
    EXPECT_EQ(put(kVictim, 160), 160U);
  }
  // Steps until what the victim had before is removed.
  int steps_to_remove() {
    int done = 0;
    for (; held(kVictim) > 0 && done < 500; ++done) EXPECT_TRUE(*room->remove_some());
    return done;
  }
};

TEST_F(KernelRoomRemovalTest, ManyThatEndedDoNotDelayWhoExecutes) {
  for (std::uint32_t tgid = kFirstOfCrowd; tgid < kFirstOfCrowd + 100; ++tgid) {
    EXPECT_TRUE(room->ended(tgid));
  }
  EXPECT_FALSE(room->began(kVictim, 0));
  const std::size_t before = tables->prefixes();
  EXPECT_LE(steps_to_remove(), 14);
  EXPECT_LT(tables->prefixes(), before - 160) << "those that ended have turns, too";
  now += std::chrono::seconds(1);
  EXPECT_EQ(next(), kVictim);
  remove_all();
  EXPECT_TRUE(maps.mappings.empty());
}

TEST_F(KernelRoomRemovalTest, ManyOfAnotherUserWhoExecuteDoNotDelayOne) {
  for (std::uint32_t tgid = kFirstOfCrowd; tgid < kFirstOfCrowd + 100; ++tgid) {
    (void)room->user_of(tgid);
    EXPECT_FALSE(room->began(tgid, 0));
  }
  EXPECT_FALSE(room->began(kVictim, 0));
  EXPECT_LE(steps_to_remove(), 22);
}

TEST_F(KernelRoomRemovalTest, WhoEndsMeanwhileIsRemovedAllTheSame) {
  EXPECT_FALSE(room->began(kVictim, 0));
  EXPECT_TRUE(*room->remove_some());
  EXPECT_TRUE(room->ended(kVictim));
  EXPECT_TRUE(room->admits(kVictim));
  remove_all();
  EXPECT_EQ(held(kVictim), 0U);
  now += std::chrono::seconds(1);
  EXPECT_EQ(next(), std::nullopt);
}

}  // namespace
}  // namespace offcpud
