// SPDX-License-Identifier: Apache-2.0
// What evidence makes of waits whose names a compiler at run time has inlined.
#include <gtest/gtest.h>

#include <cstdint>

#include "unit/sites/waker_evidence_fixture.h"

namespace offcpud::test {
namespace {

class InlinedWaitsTest : public WakerEvidenceTest {};

// Java's FutureTask.get is a name on the stack until it is inlined into the function that calls it.
TEST_F(InlinedWaitsTest, WhatNamesSaidOfAFunctionHoldsOnOnceTheyAreInlined) {
  constexpr std::uint64_t kCaller = 5;
  ThreadAtPlace inlined = at(1);
  inlined.caller = kCaller;
  const auto named = [&](WaitFor wait_for, std::uint64_t caller) {
    SeenWaits& seen = wait(at(2, 0), WaitEnd::Thread, 9);
    seen.at.caller = caller;
    seen.wait_for = wait_for;
    seen.certain = true;
  };
  named(WaitFor::Answer, kCaller);
  named(WaitFor::Lock, kCaller + 1);
  end_window();
  EXPECT_EQ(judge(inlined), WaitFor::Answer) << "nothing else is known";
  EXPECT_FALSE(certain(inlined));
  EXPECT_EQ(judge(at(1)), WaitFor::Unknown) << "of another function";
  windows(2, [&] { wait(inlined, WaitEnd::Thread, 9); });
  EXPECT_EQ(judge(inlined), WaitFor::Answer) << "wakers have no sign of it";
  windows(2, [&] { wait(inlined, WaitEnd::OwnTimer, 0, 90); });
  EXPECT_EQ(judge(inlined), WaitFor::Timer);

  ThreadAtPlace handed = at(3);
  handed.caller = kCaller + 1;
  EXPECT_EQ(judge(handed), WaitFor::Unknown) << "it may be an idle thread's condition";
  EXPECT_EQ(evidence_.judge(handed, WaitFor::Unknown, now_, true).wait_for, WaitFor::Lock);
  windows(2, [&] { wait(handed, WaitEnd::Thread, 9); });
  EXPECT_EQ(evidence_.judge(handed, WaitFor::Unknown, now_, true).wait_for, WaitFor::Work)
      << "who takes locks wakes each other";
}

// CountDownLatch.await ends where a semaphore's acquire does.
TEST_F(InlinedWaitsTest, ALatchThatHadANameIsNoSemaphore) {
  ThreadAtPlace latch = at(1), elsewhere = at(1, 1001);
  latch.caller = elsewhere.caller = 5;
  const auto handed = [this](const ThreadAtPlace& where) {
    return evidence_.judge(where, WaitFor::Unknown, now_, true).wait_for;
  };
  SeenWaits& named = wait(latch, WaitEnd::Thread, 9);
  named.wait_for = WaitFor::Answer;
  named.has_library = true;
  end_window();
  windows(3, [&] {
    for (const ThreadAtPlace& where : {latch, elsewhere}) {
      SeenWaits& inlined = wait(where, WaitEnd::Thread, 9);
      inlined.hands_over = inlined.has_library = true;
    }
  });
  EXPECT_EQ(handed(latch), WaitFor::Answer);
  EXPECT_EQ(handed(elsewhere), WaitFor::Work) << "of another place of the function";
  SeenWaits& lock = wait(at(2, 0), WaitEnd::Thread, 9);
  lock.at.caller = 5;
  lock.wait_for = WaitFor::Lock;
  lock.certain = true;
  end_window();
  EXPECT_EQ(handed(latch), WaitFor::Work) << "it may be the lock of this function";
}

TEST_F(InlinedWaitsTest, WhatNamesSaidOfAFunctionWithOtherWaitsDecidesNothing) {
  ThreadAtPlace there = at(1);
  there.caller = 5;
  SeenWaits& named = wait(at(2, 0), WaitEnd::Thread, 9);
  named.at.caller = 5;
  named.wait_for = WaitFor::Answer;
  named.certain = true;
  wait(there, WaitEnd::Thread, 9);
  end_window();
  EXPECT_EQ(judge(there), WaitFor::Answer) << "it may have been inlined";
  wait(there, WaitEnd::Thread, 9).has_library = true;
  end_window();
  EXPECT_EQ(judge(there), WaitFor::Work) << "the function also waits in ConditionObject.await";
}

}  // namespace
}  // namespace offcpud::test
