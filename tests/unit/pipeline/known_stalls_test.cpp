// SPDX-License-Identifier: Apache-2.0
#include "unit/pipeline/stall_log_fixture.h"

namespace offcpud::test {
namespace {

// Who holds its lock, and on whom it waits.
class KnownStallsTest : public StallLogTest {
 protected:
  KnownStallsTest() {
    StallPolicy examining = policy();
    examining.examined_kinds = (1U << OFFCPUD_BLOCKED_KINDS) - 1;
    log_.set_policy(examining);
  }

  // The next window has this block, and says who holds its lock (0: nobody).
  void seen(const offcpud_thread& thread, std::uint32_t holder, bool deadlocked = false) {
    auto window = std::make_shared<WaitWindow>();
    window->blocks.push_back(
        {.tid = thread.tid, .since_ns = thread.since_ns, .lasts = holder != 0, .wait = lock_});
    std::vector<Deadlock> deadlocks;
    if (holder != 0) {
      LockHolder by{.kind = LockKind::Mutex, .tid = holder};
      window->held.push_back({.tid = thread.tid,
                              .since_ns = thread.since_ns,
                              .holder = std::make_shared<const LockHolder>(by)});
      if (deadlocked) deadlocks.push_back({window->held.front()});
      PeerWaits on;
      on.pid = thread.local_tgid;
      on.wait_for = WaitFor::Lock;
      on.on = "db.service";
      on.time.ns = 1;
      window->peers.push_back(on);
    }
    log_.take_examined(std::move(window), &deadlocks);
  }

 private:
  std::shared_ptr<const ExaminedWait> lock_ = std::make_shared<const ExaminedWait>(ExaminedWait{
      .wait_for = WaitFor::Lock, .site = "mutex", .certain = true, .user = {"f"}, .kernel = {}});
};

TEST_F(KnownStallsTest, WhatWasKnownIsKeptWhenItEnds) {
  const offcpud_thread lock = blocked(110, 20s);
  seen(lock, 50);
  walk({lock});
  ASSERT_EQ(stalls().size(), 1U);
  ASSERT_TRUE(stalls()[0]->was_held) << "by the window before its record";
  EXPECT_EQ(stalls()[0]->was_held->holder->tid, 50U);
  EXPECT_FALSE(stalls()[0]->was_deadlocked);
  seen(lock, 51, true);
  seen(lock, 0);  // it has ended
  pass({end_of(lock, clock_.now())});
  ASSERT_EQ(stalls().size(), 1U);
  const Stall& over = *stalls()[0];
  EXPECT_TRUE(over.ended);
  ASSERT_TRUE(over.was_held);
  EXPECT_EQ(over.was_held->holder->tid, 51U) << "the last one";
  EXPECT_TRUE(over.was_deadlocked);
  ASSERT_TRUE(over.was_on);
  EXPECT_EQ(over.was_on->on, "db.service");
}

TEST_F(KnownStallsTest, AnEndBetweenTwoWalksHasWhatWindowsKnew) {
  walk({});
  const offcpud_thread lock = blocked(110, 15s);
  seen(lock, 50);
  seen(lock, 0);
  pass({end_of(lock, clock_.now())});
  ASSERT_EQ(stalls().size(), 1U);
  ASSERT_TRUE(stalls()[0]->was_held);
  EXPECT_EQ(stalls()[0]->was_held->holder->tid, 50U);
}

// Other waits of the same thread and process say nothing of this one.
TEST_F(KnownStallsTest, AnotherWaitOfTheThreadIsNotIts) {
  const offcpud_thread lock = blocked(110, 20s);
  offcpud_thread other = lock;
  other.since_ns += kSecond;
  seen(lock, 0);
  seen(other, 50);
  walk({lock});
  ASSERT_EQ(stalls().size(), 1U);
  EXPECT_FALSE(stalls()[0]->was_held);
  EXPECT_FALSE(stalls()[0]->was_on);
}

}  // namespace
}  // namespace offcpud::test
