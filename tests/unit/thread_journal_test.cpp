// SPDX-License-Identifier: Apache-2.0
#include "thread_journal.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using Kind = StuckThreads::Change::Kind;

TEST(StuckThreads, EachBeginAndEachEndIsToldOnce) {
  FakeClock clock;
  ThreadWatch watch(clock);
  const auto stacks = watch.add("stacks", {.stuck = 30s, .hopeless = 2min});
  const auto idle = watch.add("idle", {.stuck = 30s});
  StuckThreads stuck;
  std::vector<StuckThreads::Change> told;
  const auto wait = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock.advance(1s);
      for (auto& change : stuck.update(watch.states())) told.push_back(std::move(change));
    }
  };
  stacks->begin("walking", "process 7");
  wait(29);
  EXPECT_TRUE(told.empty());
  wait(60);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].kind, Kind::Stuck);
  EXPECT_EQ(told[0].state.work, "walking");
  EXPECT_EQ(told[0].state.subject, "process 7");
  wait(120);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1].kind, Kind::Hopeless);
  stacks->end();
  wait(29);
  EXPECT_EQ(told.size(), 2U);
  wait(60);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[2].kind, Kind::GoesOn);
  EXPECT_EQ(told[2].state.name, "stacks");
  EXPECT_EQ(told[2].state.longest, 209s);
  stacks->begin("walking");
  wait(31);
  EXPECT_EQ(told.size(), 4U) << "the next time is told again";
}

}  // namespace
}  // namespace offcpud
