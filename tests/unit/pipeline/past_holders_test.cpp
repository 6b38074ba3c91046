// SPDX-License-Identifier: Apache-2.0
#include "pipeline/past_holders.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

HeldWait held_wait(std::uint32_t tid, std::uint32_t holder, const char* cgroup = "/a",
                   const char* of = "/a") {
  LockHolder by{.kind = LockKind::Mutex, .tid = holder};
  by.process.local_tgid = 100 + holder;
  HeldWait wait{.tid = tid, .since_ns = 5};
  wait.cgroup = cgroup;
  wait.holder_cgroup = of;
  wait.holder = std::make_shared<const LockHolder>(by);
  return wait;
}

std::shared_ptr<WaitWindow> window_of(std::vector<HeldWait> held) {
  auto window = std::make_shared<WaitWindow>();
  window->held = std::move(held);
  return window;
}

std::shared_ptr<const ExaminedWait> wait(WaitFor wait_for) {
  return std::make_shared<const ExaminedWait>(ExaminedWait{
      .wait_for = wait_for, .site = "sleep", .certain = true, .user = {"f"}, .kernel = {"g"}});
}

TEST(PastHolders, OfEachTwoCgroupsTheOneForWhomMostWaitIsKept) {
  const auto past = past_holders(window_of({held_wait(1, 50), held_wait(2, 51), held_wait(3, 51),
                                            held_wait(4, 52, "/b"), held_wait(5, 51)}),
                                 nullptr);
  ASSERT_TRUE(past);
  const auto& held = past->window.held;
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(held[0].tid, 2U);
  EXPECT_EQ(held[0].holder->tid, 51U);
  EXPECT_EQ(held[0].waiters, 3U);
  EXPECT_EQ(held[1].cgroup, "/b");
  EXPECT_EQ(held[1].waiters, 1U);
  EXPECT_EQ(past_holders(window_of({}), nullptr), nullptr);
}

// Who waits for a mutex does not wait for the one who holds the GIL.
TEST(PastHolders, OneOfTheGilIsKeptBesides) {
  HeldWait gil = held_wait(3, 51);
  LockHolder by = *gil.holder;
  by.kind = LockKind::PythonGil;
  gil.holder = std::make_shared<const LockHolder>(by);
  HeldWait again = gil;
  again.tid = 4;
  const auto past = past_holders(window_of({held_wait(1, 50), gil, again}), nullptr);
  ASSERT_TRUE(past);
  const auto& held = past->window.held;
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(held[0].holder->tid, 50U);
  EXPECT_EQ(held[0].waiters, 1U);
  EXPECT_EQ(held[1].holder->kind, LockKind::PythonGil);
  EXPECT_EQ(held[1].waiters, 2U);
}

TEST(PastHolders, ADeadlockIsKeptBesideHoldersForWhomMoreWait) {
  const std::vector<HeldWait> circle = {held_wait(1, 2), held_wait(2, 1)};
  const std::vector<Deadlock> deadlocks = {circle};
  const auto past = past_holders(
      window_of({circle[0], circle[1], held_wait(3, 50), held_wait(4, 50)}), &deadlocks);
  ASSERT_TRUE(past);
  ASSERT_EQ(past->deadlocks.size(), 1U);
  ASSERT_EQ(past->window.held.size(), 2U) << "the circle";
  EXPECT_EQ(past->window.held[0].tid, 1U);
  const std::vector<Deadlock> large = {Deadlock(PastHolders::kMostOfDeadlock + 1, circle[0])};
  EXPECT_TRUE(past_holders(window_of({circle[0]}), &large)->deadlocks.empty());
}

// 1 waits for 2, which waits for 3, which sleeps.
TEST(PastHolders, WhatHoldersDidIsKeptWithoutStacks) {
  auto window = window_of({held_wait(1, 2), held_wait(2, 3, "/b", "/c")});
  window->blocks = {{.tid = 1, .lasts = true, .wait = wait(WaitFor::Lock)},
                    {.tid = 2, .lasts = true, .wait = wait(WaitFor::Lock)},
                    {.tid = 3, .lasts = false, .wait = wait(WaitFor::Answer)},
                    {.tid = 3, .lasts = true, .wait = wait(WaitFor::Timer)}};
  for (const std::uint32_t pid : {103U, 104U}) {
    window->peers.emplace_back();
    window->peers.back().pid = pid;
    window->peers.back().wait_for = WaitFor::Timer;
    window->peers.back().on = "b.service";
    window->peers.back().time.ns = 1;
  }
  const auto past = past_holders(window, nullptr);
  ASSERT_TRUE(past);
  ASSERT_EQ(past->window.blocks.size(), 2U) << "those of 2 and 3";
  const ExaminedBlock* const block = past->window.lasting_block_of(3);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->wait->wait_for, WaitFor::Timer);
  EXPECT_EQ(block->wait->site, "sleep");
  EXPECT_TRUE(block->wait->user.empty());
  ASSERT_EQ(past->window.peers.size(), 1U);
  EXPECT_EQ(past->window.peers[0].pid, 103U);
  EXPECT_GT(past->bytes(), sizeof(PastHolders));
}

TEST(PastHolders, AHolderThatWaitsLeadsToTheNext) {
  const auto past = past_holders(window_of({held_wait(1, 9), held_wait(2, 3), held_wait(3, 4),
                                            held_wait(5, 9), held_wait(6, 2, "/b", "/a")}),
                                 nullptr);
  ASSERT_TRUE(past);
  const HeldWait* const next = past->window.find_held(2);
  ASSERT_NE(next, nullptr) << "for whom 6 waits";
  EXPECT_EQ(next->waiters, 0U) << "more wait for 9 in that cgroup";
  EXPECT_EQ(past->window.find_held(3)->holder->tid, 4U);
  EXPECT_EQ(past->window.find_held(1)->waiters, 2U);
}

TEST(PastHolders, AreKeptWithTheirWindow) {
  auto window = window_of({held_wait(1, 2)});
  window->begin_at = MonotonicTime() + 1h;
  window->end_at = window->begin_at + 10s;
  PeerHistory history;
  history.add(*window, past_holders(window, nullptr));
  ASSERT_EQ(history.windows().size(), 1U);
  ASSERT_TRUE(history.windows()[0]->holders);
  EXPECT_EQ(history.windows()[0]->holders->window.held.size(), 1U);
}

}  // namespace
}  // namespace offcpud
