// SPDX-License-Identifier: Apache-2.0
#include "reader/wait_ledger.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/users.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kAlice;
using test::kMallory;

constexpr auto kHang = 200ms;
constexpr Account kRoot = 0;

struct WaitLedgerTest : testing::Test {
  FakeClock clock;
  WaitLedger ledger{clock};
};

TEST_F(WaitLedgerTest, AProcessIsLeftAloneForLongerAndLonger) {
  EXPECT_EQ(ledger.may_ask(7, std::nullopt), std::nullopt);
  ledger.count_wait(7, std::nullopt, kHang, true);
  EXPECT_EQ(ledger.may_ask(7, std::nullopt), Refusal::Process);
  EXPECT_EQ(ledger.may_ask(8, std::nullopt), std::nullopt);
  clock.advance(9s);
  EXPECT_EQ(ledger.may_ask(7, std::nullopt), Refusal::Process);
  clock.advance(2s);
  EXPECT_EQ(ledger.may_ask(7, std::nullopt), std::nullopt);
  ledger.count_wait(7, std::nullopt, kHang, true);
  clock.advance(19s);
  EXPECT_EQ(ledger.may_ask(7, std::nullopt), Refusal::Process);
  clock.advance(2s);
  EXPECT_EQ(ledger.may_ask(7, std::nullopt), std::nullopt);
}

TEST_F(WaitLedgerTest, AUserWithTwoHangsIsLeftAloneAltogether) {
  EXPECT_FALSE(ledger.needs_account());
  ledger.count_wait(7, kMallory, 50ms, true);
  EXPECT_TRUE(ledger.needs_account());
  EXPECT_EQ(ledger.may_ask(8, kMallory), std::nullopt);
  ledger.count_wait(8, kMallory, 50ms, true);
  EXPECT_EQ(ledger.may_ask(9, kMallory), Refusal::User);
  EXPECT_EQ(ledger.may_ask(10, kAlice), std::nullopt);
}

// Answers that just come late cost as much.
TEST_F(WaitLedgerTest, AUserMayHaveUsWaitForSoLongOnly) {
  for (int i = 0; i < 3; ++i) ledger.count_wait(7, kMallory, 110ms, false);
  EXPECT_EQ(ledger.may_ask(8, kMallory), Refusal::User);
  EXPECT_EQ(ledger.may_ask(9, kAlice), std::nullopt);
  clock.advance(5s);
  EXPECT_EQ(ledger.may_ask(8, kMallory), std::nullopt);
}

TEST_F(WaitLedgerTest, RootIsNotLeftAloneForWhatOneOfItsProcessesDid) {
  for (std::uint32_t tgid = 7; tgid < 10; ++tgid) ledger.count_wait(tgid, kRoot, 50ms, true);
  EXPECT_EQ(ledger.may_ask(20, kRoot), std::nullopt);
}

// As many users as there are in a range of subordinate ones, each for the first time.
TEST_F(WaitLedgerTest, WhatAllTogetherCostIsBounded) {
  std::chrono::nanoseconds waited{};
  Account user = 100'000;
  for (int second = 0; second < 100; ++second) {
    for (int i = 0; i < 50; ++i, ++user) {
      if (ledger.may_ask(user, user)) continue;
      ledger.count_wait(user, user, kHang, true);
      waited += kHang;
    }
    clock.advance(1s);
  }
  EXPECT_LT(waited, 7s);  // of 100 s
  EXPECT_GT(waited, 4s);  // it comes back
}

TEST_F(WaitLedgerTest, APartIsKeptForThoseWhoHadNobodyWait) {
  ledger.count_wait(7, kMallory, 1ms, false);  // is known
  for (Account user = 2000; user < 2002; ++user) ledger.count_wait(user, user, kHang, true);
  EXPECT_EQ(ledger.may_ask(9, kMallory), Refusal::Budget);
  EXPECT_EQ(ledger.may_ask(9, std::nullopt), Refusal::Budget);
  EXPECT_EQ(ledger.may_ask(10, kAlice), std::nullopt);
  ledger.count_wait(5000, Account{5000}, kHang, true);
  EXPECT_EQ(ledger.may_ask(10, kAlice), Refusal::Budget);
  clock.advance(2s);
  EXPECT_EQ(ledger.may_ask(10, kAlice), std::nullopt);
}

// Two threads ask: what the second one waits for was allowed before the first one had used it up.
TEST_F(WaitLedgerTest, WhatIsKeptForOthersIsNotSpentByWhoHadUsWaitBefore) {
  ledger.count_wait(7, kMallory, 2600ms, true);
  ledger.count_wait(8, kMallory, 2600ms, true);
  EXPECT_EQ(ledger.may_ask(10, kAlice), std::nullopt);
  ledger.count_wait(10, kAlice, 150ms, false);
  ledger.count_wait(9, kMallory, 2600ms, true);
  EXPECT_EQ(ledger.may_ask(11, Account{1002}), std::nullopt);
}

// A page from swap, minutes ago.
TEST_F(WaitLedgerTest, WhoWasSlowOnceIsBlamelessAgain) {
  ledger.count_wait(20, kRoot, 100ms, false);
  clock.advance(5s);
  ledger.count_wait(7, kMallory, 2600ms, true);
  EXPECT_EQ(ledger.may_ask(21, kRoot), std::nullopt);
  ledger.count_wait(21, kRoot, 100ms, false);
  EXPECT_EQ(ledger.may_ask(22, kRoot), Refusal::Budget);
}

// Or it would be gone before anybody asks whose it was.
TEST_F(WaitLedgerTest, AfterAHangItMattersWhoseAProcessIs) {
  ledger.count_wait(7, std::nullopt, 50ms, true);
  EXPECT_TRUE(ledger.needs_account());
  clock.advance(30min);
  ledger.count_wait(0, std::nullopt, 1ms, false);
  EXPECT_FALSE(ledger.needs_account());
}

TEST_F(WaitLedgerTest, MountsAreShunnedForAWhile) {
  ledger.shun(42);
  EXPECT_EQ(ledger.shunned(), std::vector<std::uint64_t>{42});
  clock.advance(11s);
  EXPECT_TRUE(ledger.shunned().empty());
  for (std::uint64_t mount = 1; mount < 100; ++mount) ledger.shun(mount);
  EXPECT_LE(ledger.shunned().size(), 16U);
}

TEST_F(WaitLedgerTest, AllIsForgivenAtLast) {
  ledger.count_wait(7, kMallory, kHang, true);
  clock.advance(30min);
  ledger.count_wait(8, kAlice, 1ms, false);
  EXPECT_EQ(ledger.may_ask(7, kMallory), std::nullopt);
  ledger.count_wait(7, kMallory, 1ms, true);
  EXPECT_EQ(ledger.may_ask(9, kMallory), std::nullopt);  // it is the first one again
}

}  // namespace
}  // namespace offcpud
