// SPDX-License-Identifier: Apache-2.0
// Programs whose threads wait for known things, all at places that rules cannot tell apart.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "unit/sites/waker_evidence_fixture.h"

namespace offcpud::test {
namespace {

TEST_F(WakerEvidenceTest, AMutexMadeOfASemaphoreIsALock) {
  windows(2, [this] { convoy(); });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) {
    EXPECT_EQ(judge(at(tid)), WaitFor::Lock) << tid;
    EXPECT_TRUE(certain(at(tid))) << tid;
  }
}

TEST_F(WakerEvidenceTest, OneWindowDecidesNothing) {
  convoy();
  end_window();
  EXPECT_EQ(judge(at(1)), WaitFor::Unknown);
  EXPECT_FALSE(certain(at(1)));
}

// Who returns what it had taken wakes the next one. Each also waits elsewhere, and two of ten never
// had to wait for the pool.
TEST_F(WakerEvidenceTest, APoolOnAConditionIsALock) {
  windows(2, [this] {
    for (std::uint32_t tid = 1; tid <= 8; ++tid) {
      wait(at(tid), WaitEnd::Thread, 1 + tid % 8, 6);
      wait(at(tid), WaitEnd::Thread, 9 + tid % 2, 4);
      wait(at(tid, 0), WaitEnd::Other).wait_for = WaitFor::Storage;
    }
  });
  for (std::uint32_t tid = 1; tid <= 8; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Lock) << tid;
}

// Java without a perf map: threads of a server, which a dispatcher wakes, put jobs into a queue.
// All of them seem to wait at one place, because just-in-time code has no names.
TEST_F(WakerEvidenceTest, ProducersThatSeemToWaitThereHoldNoLock) {
  windows(3, [this] {
    for (std::uint32_t producer = 10; producer < 14; ++producer) {
      wait(at(producer), WaitEnd::Thread, 20);
      wait(at(1), WaitEnd::Thread, producer);
    }
    wait(at(20, 0), WaitEnd::Other).wait_for = WaitFor::Work;
  });
  EXPECT_EQ(judge(at(1)), WaitFor::Work);
  EXPECT_EQ(judge(at(10)), WaitFor::Work);
}

// A pool for scheduled tasks: one thread waits for the time of the next task, and wakes another one
// that does so from then on. Both wait at the same site, with different stacks.
TEST_F(WakerEvidenceTest, WhoLeadsAPoolHoldsNoLock) {
  constexpr std::uint64_t kParked = 5, kOther = 6;
  const auto pool = [this](std::uint64_t leader_site) {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) {
      wait(at(tid), WaitEnd::Thread, 1 + tid % 4).site = kParked;
      wait(at(tid, kPlace + 1), WaitEnd::OwnTimer).site = leader_site;
    }
  };
  windows(3, [&] { pool(kParked); });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Work) << tid;

  evidence_ = WakerEvidence();
  windows(3, [&] { pool(kOther); });
  EXPECT_EQ(judge(at(1)), WaitFor::Lock) << "its holders sleep elsewhere";
}

TEST_F(WakerEvidenceTest, ConsumersWaitForWork) {
  windows(2, [this] {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) wait(at(tid), WaitEnd::Thread, 10 + tid % 2);
    wait(at(10, 0), WaitEnd::Other).wait_for = WaitFor::Work;
  });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) {
    EXPECT_EQ(judge(at(tid)), WaitFor::Work) << tid;
    EXPECT_FALSE(certain(at(tid))) << tid;
  }
}

// Jobs come several at once: who takes the first wakes the next thread. In between all wait for
// seconds.
TEST_F(WakerEvidenceTest, IdleConsumersThatWakeEachOtherWaitForWork) {
  windows(3, [this] {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) {
      wait(at(tid), WaitEnd::Thread, 1 + tid % 4).whole_ns = 4.8e9;
      wait(at(tid), WaitEnd::Thread, 1 + (tid + 2) % 4).whole_ns = 4.7e9;
      wait(at(tid), WaitEnd::Thread, 10, 2);
    }
  });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Work) << tid;
}

// An interpreter's stacks are alike: 5 and 6 hand on a lock where 1 to 4 have nothing to do.
TEST_F(WakerEvidenceTest, AnIdlePoolAndALockMayHaveOneStack) {
  windows(3, [this] {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) {
      wait(at(tid), WaitEnd::Thread, tid == 1 ? 10 : tid - 1).whole_ns = 9.5e9;
    }
    for (std::uint32_t tid = 5; tid <= 6; ++tid)
      wait(at(tid), WaitEnd::Thread, 11 - tid).whole_ns = 5e9;
  });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Work) << tid;
  for (std::uint32_t tid = 5; tid <= 6; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Lock) << tid;
}

// One of four holds it, always.
TEST_F(WakerEvidenceTest, ALockThatIsAlwaysHeldIsALock) {
  windows(3, [this] {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) {
      wait(at(tid), WaitEnd::Thread, 1 + tid % 4).whole_ns = 7.5e9;
    }
  });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Lock) << tid;
}

// It waits there for a moment only, so most windows have no sample of that.
TEST_F(WakerEvidenceTest, AHolderThatIsSeldomSampledThereHoldsALock) {
  windows(2, [this] {
    wait(at(5), WaitEnd::Thread, 6).whole_ns = 5e9;
    wait(at(6), WaitEnd::Thread, 5).whole_ns = 5e9;
  });
  windows(4, [this] { wait(at(5), WaitEnd::Thread, 6).whole_ns = 9e9; });
  EXPECT_EQ(judge(at(5)), WaitFor::Lock);
}

// Thread 9 has something nearly always and never waits for it; 1 and 2 take it for a moment, in
// this order or the other. Where idle threads pass jobs on, a pool looks the same.
TEST_F(WakerEvidenceTest, WhatOneThreadHoldsNearlyAlwaysIsALockWhereNoJobsArePassedOn) {
  const auto handed = [this](bool hands_over) {
    for (const auto& [first, second] : {std::pair(1U, 2U), std::pair(2U, 1U)}) {
      for (const auto& [waiter, waker] : {std::pair(first, 9U), std::pair(second, first)}) {
        SeenWaits& seen = wait(at(waiter), WaitEnd::Thread, waker);
        seen.whole_ns = 4.7e9;
        seen.hands_over = hands_over;
      }
    }
    wait(at(9, 0), WaitEnd::OwnTimer).wait_for = WaitFor::Timer;
  };
  windows(3, [&] { handed(true); });
  for (std::uint32_t tid = 1; tid <= 2; ++tid) {
    EXPECT_EQ(judge(at(tid)), WaitFor::Lock) << tid;
    EXPECT_TRUE(certain(at(tid))) << tid;
  }
  evidence_ = WakerEvidence();
  windows(3, [&] { handed(false); });
  for (std::uint32_t tid = 1; tid <= 2; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Work) << tid;
}

// A thread naps or waits for the network in the course of each job that it gets where a rule says
// that threads wait for work: who gave it the job waits for its result.
TEST_F(WakerEvidenceTest, WhoGivesJobsToAPoolWaitsForAnAnswer) {
  const auto loop = [this](bool by_name) {
    wait(at(1), WaitEnd::Thread, 2);
    SeenWaits& idle = wait(at(2, 0), WaitEnd::Thread, 1);
    idle.wait_for = WaitFor::Work;
    idle.certain = by_name;
    wait(at(2, 0), WaitEnd::OwnTimer).wait_for = WaitFor::Timer;
  };
  windows(2, [&] { loop(true); });
  EXPECT_EQ(judge(at(1)), WaitFor::Answer);
  evidence_ = WakerEvidence();
  windows(2, [&] { loop(false); });
  EXPECT_EQ(judge(at(1)), WaitFor::Work);
}

// Who answers has its next question at once, so that such waits are seldom sampled; one of them
// stands for many.
TEST_F(WakerEvidenceTest, AQuestionThatIsSeldomSampledIsRemembered) {
  const auto answered = [this] {
    wait(at(1), WaitEnd::Thread, 2);
    wait(at(2, 0), WaitEnd::OwnTimer).wait_for = WaitFor::Timer;
  };
  answered();
  SeenWaits& idle = wait(at(2, 0), WaitEnd::Thread, 1, 1);
  idle.wait_for = WaitFor::Work;
  idle.certain = true;
  idle.episodes = 200;
  end_window(seconds(60));
  for (int i = 0; i < 12; ++i) {
    answered();
    end_window(seconds(60));
    EXPECT_EQ(judge(at(1)), WaitFor::Answer) << i;
  }
  for (int i = 0; i < 20; ++i) {
    answered();
    end_window(seconds(60));
  }
  EXPECT_EQ(judge(at(1)), WaitFor::Work) << "it has not asked for long";
}

// Each takes from its queue what the one before put there: 10 wakes 1, which wakes 2, which
// wakes 3.
TEST_F(WakerEvidenceTest, AChainOfQueuesHandsNothingOver) {
  windows(3, [this] {
    for (std::uint32_t tid = 1; tid <= 3; ++tid) {
      SeenWaits& seen = wait(at(tid), WaitEnd::Thread, tid == 1 ? 10 : tid - 1);
      seen.whole_ns = 9.8e9;
      seen.hands_over = true;
    }
  });
  for (std::uint32_t tid = 1; tid <= 3; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Work) << tid;
}

// 10 gives jobs to 1, which asks 2 in the course of each: 1 and 2 wake each other, but 10 never
// wakes 2, which is idle otherwise.
TEST_F(WakerEvidenceTest, WhoIsAskedByAWorkerHandsNothingOver) {
  windows(3, [this] {
    for (const auto& [waiter, waker] : {std::pair(1U, 10U), std::pair(1U, 2U), std::pair(2U, 1U)}) {
      SeenWaits& seen = wait(at(waiter), WaitEnd::Thread, waker);
      seen.whole_ns = 4.9e9 * (waiter == 2 ? 2 : 1);
      seen.hands_over = true;
    }
  });
  EXPECT_NE(judge(at(1)), WaitFor::Lock);
  EXPECT_EQ(judge(at(2)), WaitFor::Work);
}

// By their estimates all of them wait all the time; by the errors of these one may hold it.
TEST_F(WakerEvidenceTest, NoiseIsNoSignOfAPool) {
  windows(3, [this] {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) {
      SeenWaits& seen = wait(at(tid), WaitEnd::Thread, 1 + tid % 4);
      seen.whole_ns = 9.9e9;
      seen.variance_ns2 = 9.9e9 * 3e9;
    }
  });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Lock) << tid;
}

// The producers wait now and then for room, at another place, which one consumer in ten makes.
TEST_F(WakerEvidenceTest, ConsumersOfABoundedQueueWaitForWork) {
  windows(2, [this] {
    for (std::uint32_t tid = 1; tid <= 4; ++tid) {
      wait(at(tid), WaitEnd::Thread, 10, 20);
      wait(at(10, kPlace + 1), WaitEnd::Thread, tid, 2);
    }
  });
  for (std::uint32_t tid = 1; tid <= 4; ++tid) EXPECT_EQ(judge(at(tid)), WaitFor::Work) << tid;
}

// 10 asks 1 and waits for its reply. Between its questions it waits for the network.
TEST_F(WakerEvidenceTest, WhoAskedWaitsForAnAnswerAndWhoIsAskedForWork) {
  windows(3, [this] {
    wait(at(10, kPlace + 1), WaitEnd::Thread, 1);
    wait(at(1), WaitEnd::Thread, 10);
    wait(at(10, 0), WaitEnd::Other).wait_for = WaitFor::Work;
  });
  EXPECT_EQ(judge(at(10, kPlace + 1)), WaitFor::Answer);
  EXPECT_FALSE(certain(at(10, kPlace + 1)));
  EXPECT_EQ(judge(at(1)), WaitFor::Work);
}

TEST_F(WakerEvidenceTest, AnotherProcessDoesNotAnswer) {
  ThreadAtPlace other{.tgid = 200, .tid = 1, .process_start_ns = 5, .place = kPlace};
  windows(3, [&] {
    SeenWaits& asked = wait(other, WaitEnd::Thread, 10);
    asked.waker_tgid = kProcess;
    SeenWaits& asker = wait(at(10, kPlace + 1), WaitEnd::Thread, 1);
    asker.waker_tgid = 200;
  });
  EXPECT_EQ(judge(at(10, kPlace + 1)), WaitFor::Work);
}

// A semaphore in memory that processes share.
TEST_F(WakerEvidenceTest, ALockMayBeSharedByProcesses) {
  const auto of = [](std::uint32_t pid) {
    return ThreadAtPlace{.tgid = pid, .tid = pid, .process_start_ns = pid, .place = kPlace};
  };
  windows(2, [&] {
    for (std::uint32_t pid = 1; pid <= 3; ++pid) {
      const std::uint32_t next = 1 + pid % 3;
      wait(of(pid), WaitEnd::Thread, next).waker_tgid = next;
    }
  });
  EXPECT_EQ(judge(of(1)), WaitFor::Lock);
}

TEST_F(WakerEvidenceTest, WhatItsOwnTimerEndsIsATimer) {
  windows(2, [this] {
    wait(at(1), WaitEnd::OwnTimer, 0, 7);
    wait(at(1), WaitEnd::Thread, 10, 3);
    wait(at(2), WaitEnd::OwnTimer, 0, 5);
    wait(at(2), WaitEnd::Thread, 10, 5);
    wait(at(3), WaitEnd::Other);  // an interrupt, but not that of its timer
  });
  EXPECT_EQ(judge(at(1)), WaitFor::Timer);
  EXPECT_TRUE(certain(at(1)));
  EXPECT_EQ(judge(at(2)), WaitFor::Work);
  EXPECT_EQ(judge(at(3)), WaitFor::Work);
}

TEST_F(WakerEvidenceTest, FewWakeupsDecideNothing) {
  windows(3, [this] { wait(at(1), WaitEnd::Thread, 10, 1).episodes = 10'000; });
  EXPECT_EQ(judge(at(1)), WaitFor::Unknown);
  EXPECT_EQ(judge(at(1), WaitFor::Work), WaitFor::Work);
  now_ += WakerEvidence::kYoung;
  EXPECT_EQ(judge(at(1)), WaitFor::Work) << "it is not young any more";
  EXPECT_FALSE(certain(at(1)));
  EXPECT_EQ(judge(at(99)), WaitFor::Unknown) << "never seen";
}

TEST_F(WakerEvidenceTest, WhatARuleSaysHoldsUnlessThereIsASign) {
  windows(2, [this] {
    convoy();
    wait(at(20, kPlace + 1), WaitEnd::Thread, 30);
  });
  EXPECT_EQ(judge(at(1), WaitFor::Work), WaitFor::Lock);
  EXPECT_EQ(judge(at(20, kPlace + 1), WaitFor::Answer), WaitFor::Answer);
  EXPECT_EQ(judge(at(20, kPlace + 1)), WaitFor::Work);
}

// The process ended, and another one got the numbers of its threads.
TEST_F(WakerEvidenceTest, NumbersThatAreReusedBringNoEvidence) {
  windows(2, [this] { convoy(); });
  ThreadAtPlace reborn = at(1);
  reborn.process_start_ns = kStart + 1;
  EXPECT_EQ(judge(reborn), WaitFor::Unknown);
  // Its waker has the number of a thread that waited there, but of the process before.
  windows(2, [&] { wait(reborn, WaitEnd::Thread, 2); });
  EXPECT_EQ(judge(reborn), WaitFor::Work);
}

TEST_F(WakerEvidenceTest, AThreadThatChangesIsClassedAnewAfterTwoWindows) {
  windows(6, [this] { convoy(); });
  ASSERT_EQ(judge(at(1)), WaitFor::Lock);
  const auto nap = [this] { wait(at(1), WaitEnd::OwnTimer, 0, 100); };
  windows(1, nap);
  EXPECT_EQ(judge(at(1)), WaitFor::Lock) << "one window";
  windows(1, nap);
  EXPECT_EQ(judge(at(1)), WaitFor::Timer) << "two windows";
}

TEST_F(WakerEvidenceTest, OldEvidenceWeighsLess) {
  windows(6, [this] { wait(at(1), WaitEnd::Thread, 10, 100); });
  ASSERT_EQ(judge(at(1)), WaitFor::Work);
  now_ += 4 * WakerEvidence::kHalfLife;  // 600 waits weigh as 37 do
  windows(2, [this] { wait(at(1), WaitEnd::OwnTimer, 0, 70); });
  EXPECT_EQ(judge(at(1)), WaitFor::Timer);
}

// A class that another one follows in each window stays what it is.
TEST_F(WakerEvidenceTest, DoesNotFlap) {
  windows(2, [this] { convoy(); });
  int changes = 0;
  for (int i = 0; i < 50; ++i) {
    now_ += 4 * WakerEvidence::kHalfLife;  // little is left of what was
    if (i % 2 == 0) {
      wait(at(1), WaitEnd::OwnTimer);
    } else {
      convoy();
    }
    end_window();
    if (judge(at(1)) != WaitFor::Lock) ++changes;
  }
  EXPECT_EQ(changes, 0);
}

// Who blocks for long brings no new evidence, and is what it was.
TEST_F(WakerEvidenceTest, AWaitThatLastsKeepsItsClass) {
  windows(2, [this] { convoy(); });
  for (int i = 0; i < 60; ++i) {
    wait(at(1), WaitEnd::None);
    end_window(seconds(60));
  }
  EXPECT_EQ(judge(at(1)), WaitFor::Lock);
}

TEST_F(WakerEvidenceTest, AWakerThatWaitedThereLongAgoHoldsNoLock) {
  wait(at(10), WaitEnd::Thread, 1);
  end_window();
  now_ += WakerEvidence::kAtTimes;
  windows(2, [this] { wait(at(1), WaitEnd::Thread, 10); });
  EXPECT_EQ(judge(at(1)), WaitFor::Work);
}

// A process makes threads without end, 5,000 in each window. What is known of others stays.
TEST_F(WakerEvidenceTest, ThreadsWithoutEndTakeNothingOfOthers) {
  windows(2, [this] { convoy(); });
  for (std::uint32_t tid = 1; tid < 100'000; ++tid) {
    const ThreadAtPlace short_lived{.tgid = 5, .tid = tid, .process_start_ns = 9, .place = kPlace};
    wait(short_lived, WaitEnd::Thread, tid + 1, 1);
    if (tid % 5'000 != 0) continue;
    convoy();
    end_window();
    EXPECT_EQ(judge(at(1)), WaitFor::Lock) << tid;
    EXPECT_LE(evidence_.size(), WakerEvidence::kMost) << tid;
  }
  EXPECT_GT(evidence_.dropped(), 100'000U);
  windows(20, [this] { convoy(); });
  now_ += WakerEvidence::kKept;
  windows(1, [this] { convoy(); });
  EXPECT_LT(evidence_.size(), 100U) << "they are forgotten";
}

// 3,000 processes of another user, 30,000 pieces of evidence in each window; once with numbers that
// were one process's to a table that counted by number modulo 1,024.
TEST_F(WakerEvidenceTest, ProcessesOfOneUserDoNotPushOutAnothers) {
  for (const std::uint32_t apart : {1U, 1024U}) {
    evidence_ = WakerEvidence();
    windows(2, [this] { convoy(); });
    for (int window = 0; window < 3; ++window) {
      for (std::uint32_t i = 0; i < 30'000; ++i) {
        const ThreadAtPlace theirs{.tgid = kProcess + apart * (1 + i / 10),
                                   .tid = i % 10,
                                   .process_start_ns = 9,
                                   .owner = 1000,
                                   .place = kPlace};
        wait(theirs, WaitEnd::OwnTimer);
      }
      end_window();
      EXPECT_EQ(judge(at(1)), WaitFor::Lock) << apart << " " << window;
    }
    EXPECT_EQ(evidence_.size(), WakerEvidence::kMost);
    windows(2, [this] {
      for (std::uint32_t tid = 100; tid < 2'000; ++tid) wait(at(tid), WaitEnd::OwnTimer);
    });
    EXPECT_EQ(judge(at(1'000)), WaitFor::Timer) << apart << ": there is room for what is new";
  }
}

}  // namespace
}  // namespace offcpud::test
