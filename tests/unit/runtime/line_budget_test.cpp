// SPDX-License-Identifier: Apache-2.0
#include "runtime/line_budget.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

int admitted(LineBudget& budget, int lines) {
  int count = 0;
  for (int i = 0; i < lines; ++i) count += budget.admit() ? 1 : 0;
  return count;
}

TEST(LineBudget, LetsSoManyLinesThroughInAPeriod) {
  FakeClock clock;
  LineBudget budget(clock, 3);
  EXPECT_EQ(admitted(budget, 5), 3);
  clock.advance(60s - 1ns);
  EXPECT_EQ(admitted(budget, 5), 0);
  clock.advance(1ns);
  EXPECT_EQ(admitted(budget, 5), 3);
}

TEST(LineBudget, APeriodBeginsWithItsFirstLine) {
  FakeClock clock;
  LineBudget budget(clock, 2);
  clock.advance(59s);
  EXPECT_EQ(admitted(budget, 1), 1);
  clock.advance(59s);
  EXPECT_EQ(admitted(budget, 2), 1);
  clock.advance(1s);
  EXPECT_EQ(admitted(budget, 3), 2);
}

TEST(LineBudget, SaysOnceAndAfterwardsHowManyWereLeftOut) {
  FakeClock clock;
  LineBudget budget(clock, 1);
  EXPECT_EQ(budget.take_left_out(), 0U);
  admitted(budget, 5);
  EXPECT_EQ(budget.take_left_out(), 0U) << "there may be more";
  clock.advance(60s);
  EXPECT_EQ(budget.take_left_out(), 4U);
  EXPECT_EQ(budget.take_left_out(), 0U);
}

TEST(LineBudget, ABudgetOfNothingLetsNothingThrough) {
  FakeClock clock;
  LineBudget budget(clock, 0);
  EXPECT_EQ(admitted(budget, 2), 0);
  clock.advance(60s);
  EXPECT_EQ(budget.take_left_out(), 2U);
}

}  // namespace
}  // namespace offcpud
