// SPDX-License-Identifier: Apache-2.0
#include "reader/hung_readers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <vector>

#include "support/fake_clock.h"
#include "support/users.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kAlice;
using test::kMallory;

TEST(HungReaders, CountThoseThatHaveNotEnded) {
  HungReaders readers;
  readers.add(7, kMallory);
  readers.add(8, std::nullopt);
  EXPECT_EQ(readers.count(), 2U);
  readers.update(std::vector<pid_t>{8, 9});  // 9 is of another run
  EXPECT_EQ(readers.count(), 2U);
  readers.update({});
  EXPECT_EQ(readers.count(), 0U);
}

TEST(HungReaders, AUserMayHoldSoManyAndThenWaitsUntilOneEnds) {
  HungReaders readers;
  std::vector<pid_t> hung;
  for (pid_t pid = 1; pid <= 3; ++pid) {
    EXPECT_TRUE(readers.has_room(kMallory));
    readers.add(pid, kMallory);
  }
  EXPECT_FALSE(readers.has_room(kMallory));
  EXPECT_TRUE(readers.has_room(kAlice));
  readers.update(std::vector<pid_t>{1, 3});
  EXPECT_TRUE(readers.has_room(kMallory));
}

TEST(HungReaders, ThoseWhoHaveNoneAreServedLast) {
  HungReaders readers;
  pid_t pid = 0;
  for (Account user = 1; user <= 9; ++user) readers.add(++pid, user);
  EXPECT_FALSE(readers.has_room(1));
  EXPECT_TRUE(readers.has_room(kAlice));
}

TEST(HungReaders, RootIsNotOneProgram) {
  HungReaders readers;
  for (pid_t pid = 1; pid <= 5; ++pid) readers.add(pid, kRootAccount);
  EXPECT_TRUE(readers.has_room(kRootAccount));
  readers.add(6, kRootAccount);
  EXPECT_FALSE(readers.has_room(kRootAccount));
}

// One user, with any number of processes, and all the patience in the world: nothing that was read
// for others before is refused in a day of it.
TEST(HungReaders, OneUserDoesNotKeepOthersFromBeingRead) {
  FakeClock clock;
  WaitLedger ledger(clock);
  HungReaders readers;
  std::uint32_t tgid = 1000;
  int refused = 0;
  for (int second = 0; second < 86'400; ++second) {
    for (int i = 0; i < 8; ++i) {
      ++tgid;
      if (ledger.may_ask(tgid, kMallory) || !readers.has_room(kMallory)) continue;
      ledger.count_wait(tgid, kMallory, 600ms, true);
      readers.add(static_cast<pid_t>(tgid), kMallory);
    }
    if (ledger.may_ask(5, kAlice) || !readers.has_room(kAlice)) ++refused;
    clock.advance(1s);
  }
  EXPECT_EQ(refused, 0);
  EXPECT_LE(readers.count(), HungReaders::kMostOfUser);
  EXPECT_LT(readers.count(), HungReaders::kMost);
}

}  // namespace
}  // namespace offcpud
