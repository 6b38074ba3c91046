// SPDX-License-Identifier: Apache-2.0
#include "goroutines/look_budget.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

using namespace std::chrono_literals;

// Who looks whenever it may, at a cost of 7 ms each, spends what it may spend.
TEST(LookBudget, IsWhatIsSpentOnAverage) {
  MonotonicTime now{1h};
  const MonotonicTime begin = now;
  LookBudget budget(now);
  budget.set(10ms, now);
  std::chrono::nanoseconds spent{0};
  while (now - begin < 100s) {
    const MonotonicTime next = budget.next(now);
    if (next > now) {
      now = next;
      continue;
    }
    budget.pay(7ms);
    spent += 7ms;
    now += 7ms;
  }
  EXPECT_NEAR(std::chrono::duration<double>(spent).count(), 1.0, 0.06);  // and 50 ms at the start
}

TEST(LookBudget, SavesLittle) {
  MonotonicTime now{1h};
  LookBudget budget(now);
  budget.set(10ms, now);
  now += 1h;
  for (int i = 0; i < 5; ++i) {
    EXPECT_LE(budget.next(now), now) << i;
    budget.pay(10ms);
  }
  const MonotonicTime next = budget.next(now);
  EXPECT_GT(next, now) << "five seconds' worth, not an hour's";
  EXPECT_LE(next, now + 1s);
}

TEST(LookBudget, ADebtIsPaidBackInTime) {
  const MonotonicTime now{1h};
  LookBudget budget(now);
  budget.set(10ms, now);
  budget.pay(150ms);  // 100 ms more than there were
  EXPECT_NEAR(std::chrono::duration<double>(budget.next(now) - now).count(), 10, 0.01);
}

}  // namespace
}  // namespace offcpud
