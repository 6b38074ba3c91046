// SPDX-License-Identifier: Apache-2.0
// Units that wait for others, which are busy with other requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/why/hosts.h"
#include "why/cause_parts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using test::sentence;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using End = UnitChain::End;
using On = UnitPeer::On;

const UnitChain::Step kAsksDb{.wait_for = WaitFor::Answer, .on = {.kind = On::Unit, .on = "db"}};
const UnitChain::Step kSleeps{.wait_for = WaitFor::Timer, .on = {.kind = On::Nobody, .on = ""}};

// 10 threads wait for tier2.
HandMadeInputs waits_for_tier2() {
  HandMadeInputs host;
  host.waits("front", WaitFor::Answer, "", 10).on("front", WaitFor::Answer, On::Unit, "tier2", 10);
  return host;
}

HandMadeInputs behind_others(double runs, double busy) {
  HandMadeInputs host = waits_for_tier2();
  host.during("front", WaitFor::Answer, "tier2", {}, End::OnCpu, runs)
      .during("front", WaitFor::Answer, "tier2", {}, End::OnCpu, busy, 0.2, 0);
  return host;
}

TEST(BusyChains, WorkForOthersIsAPartOfItsOwn) {
  HandMadeInputs host = behind_others(2, 7);
  const UnitCauses tree = causes_of(host.made(), "front");
  const Cause& tier2 = tree.causes.at(0).parts.at(0);
  ASSERT_EQ(tier2.parts.size(), 3U);
  EXPECT_EQ(tier2.parts[0].kind, Cause::Kind::Busy);
  EXPECT_EQ(tier2.parts[0].name, "tier2");
  EXPECT_NEAR(tier2.parts[0].threads, 7, 1e-9);
  EXPECT_NEAR(tier2.parts[0].error, 0.2, 1e-9);
  ASSERT_EQ(tier2.parts[0].parts.size(), 1U);
  EXPECT_EQ(tier2.parts[0].parts[0].kind, Cause::Kind::Runs);
  EXPECT_NEAR(tier2.parts[0].parts[0].threads, 7, 1e-9);
  EXPECT_EQ(tier2.parts[1].kind, Cause::Kind::Runs);
  EXPECT_NEAR(tier2.parts[1].threads, 2, 1e-9);
  EXPECT_EQ(tier2.parts[2].kind, Cause::Kind::Unknown);
}

TEST(BusyChains, TheSentenceSaysSo) {
  HandMadeInputs host = behind_others(2, 8);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith("; 80 % of that time tier2 is busy with other requests and mostly runs"));
  HandMadeInputs little = behind_others(8, 2);
  EXPECT_THAT(sentence(little, "front"), EndsWith("; 80 % of that time tier2 runs"));
}

TEST(BusyChains, WhatItIsBusyWithMayBeUnknown) {
  HandMadeInputs host = waits_for_tier2();
  host.during("front", WaitFor::Answer, "tier2", {}, End::Unknown, 9, 0, 0);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith("; 90 % of that time tier2 is busy with other requests"));
}

// What it did for less than half of that time, it did not mostly do.
TEST(BusyChains, WhatItIsBusyWithMayBeOfManyKinds) {
  HandMadeInputs host = waits_for_tier2();
  host.during("front", WaitFor::Answer, "tier2", {}, End::OnCpu, 4, 0, 0)
      .during("front", WaitFor::Answer, "tier2", {kSleeps}, End::Waits, 3, 0, 0)
      .during("front", WaitFor::Answer, "tier2", {}, End::Unknown, 3, 0, 0);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith("; 100 % of that time tier2 is busy with other requests"));
}

TEST(BusyChains, WhomItWaitsForThenIsToBlame) {
  HandMadeInputs host = waits_for_tier2();
  host.during("front", WaitFor::Answer, "tier2", {kAsksDb, kSleeps}, End::Waits, 2)
      .during("front", WaitFor::Answer, "tier2", {kAsksDb, kSleeps}, End::Waits, 7, 0, 0)
      .during("front", WaitFor::Answer, "tier2", {}, End::OnCpu, 1, 0, 0);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith("; 80 % of that time tier2 is busy with other requests and mostly waits for "
                       "an answer of db; 100 % of that time db sleeps"));
}

// It is another unit's server that is busy.
TEST(BusyChains, MayBeFurtherAway) {
  HandMadeInputs host = waits_for_tier2();
  host.during("front", WaitFor::Answer, "tier2", {kAsksDb}, End::OnCpu, 7, 0, 1)
      .during("front", WaitFor::Answer, "tier2", {kAsksDb}, End::OnCpu, 3);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith("; 100 % of that time tier2 waits for an answer of db; 70 % of that time db "
                       "is busy with other requests and mostly runs"));
}

TEST(BusyChains, ThreadsOfTheSameUnitMayBeBusy) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Answer, "", 2)
      .on("shop", WaitFor::Answer, On::Unit, "shop", 2)
      .during("shop", WaitFor::Answer, "shop", {kSleeps}, End::Waits, 2, 0, 0);
  EXPECT_THAT(sentence(host, "shop"),
              EndsWith("; for 100 % of their wait the thread that they wait for is busy with other "
                       "requests and mostly sleeps"));
}

TEST(BusyChains, AreNotToldIfTheyAreNotSure) {
  HandMadeInputs host = waits_for_tier2();
  host.during("front", WaitFor::Answer, "tier2", {}, End::OnCpu, 6, 4, 0).cpu("tier2", 1);
  EXPECT_THAT(sentence(host, "front"), Not(HasSubstr("busy")));
}

}  // namespace
}  // namespace offcpud
