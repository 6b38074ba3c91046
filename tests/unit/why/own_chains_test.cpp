// SPDX-License-Identifier: Apache-2.0
// Threads that wait for other threads of their own unit: what these did meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/why/hosts.h"
#include "why/cause_parts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using test::sentence;
using test::step;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using On = UnitPeer::On;
using End = UnitChain::End;

const UnitChain::Step kBehindAnother = step(WaitFor::Lock, On::Unit, "shop");
const UnitChain::Step kWritesToDisk = step(WaitFor::Storage, On::Device, "vda");

// Three threads take turns with a lock, and write to a disk while they have it.
HandMadeInputs convoy() {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Lock, "mutex", 2)
      .on("shop", WaitFor::Lock, On::Unit, "shop", 2, "shopd")
      .during("shop", WaitFor::Lock, "shop", {kWritesToDisk}, End::Waits, 0.9)
      .during("shop", WaitFor::Lock, "shop", {kBehindAnother, kWritesToDisk}, End::Waits, 0.9)
      .during("shop", WaitFor::Lock, "shop", {}, End::Runs, 0.1)
      .during("shop", WaitFor::Lock, "shop", {kBehindAnother}, End::Runs, 0.1);
  return host;
}

TEST(OwnChains, ALockIsFollowedToWhatTheOneDoesThatHasIt) {
  HandMadeInputs host = convoy();
  const UnitCauses tree = causes_of(host.made(), "shop");
  const Cause& own = tree.causes.at(0).parts.at(0);
  ASSERT_EQ(own.kind, Cause::Kind::Self);
  ASSERT_EQ(own.parts.size(), 2U);
  EXPECT_EQ(own.parts[0].for_kind, index_of(WaitFor::Storage));
  EXPECT_NEAR(own.parts[0].threads, 1.8, 1e-9);
  EXPECT_EQ(own.parts[1].kind, Cause::Kind::Runs);
  EXPECT_NEAR(own.parts[1].threads, 0.2, 1e-9);
}

TEST(OwnChains, TheSentenceEndsAtTheDisk) {
  HandMadeInputs host = convoy();
  EXPECT_THAT(sentence(host, "shop"), HasSubstr("; for 90 % of their wait the thread that they "
                                                "wait for waits for storage on device vda"));
}

TEST(OwnChains, WhoSleepsWithALockIsSaidToSleep) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Lock, "mutex", 2)
      .on("shop", WaitFor::Lock, On::Unit, "shop", 2)
      .during("shop", WaitFor::Lock, "shop", {kBehindAnother, step(WaitFor::Timer, On::Nobody, "")},
              End::Waits, 2);
  EXPECT_THAT(sentence(host, "shop"),
              HasSubstr("; for 100 % of their wait the thread that they wait for sleeps"));
}

TEST(OwnChains, BehindAnotherWhoDoesNobodyKnowsWhatNothingIsSaid) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Lock, "mutex", 2)
      .on("shop", WaitFor::Lock, On::Unit, "shop", 2)
      .during("shop", WaitFor::Lock, "shop", {kBehindAnother}, End::Waits, 2);
  const UnitCauses tree = causes_of(host.made(), "shop");
  EXPECT_TRUE(tree.causes.at(0).parts.at(0).parts.empty());
}

// One thread hangs at the database, while others are answered soon: nobody knows what the database
// does for that one.
TEST(OwnChains, WaitsThatHaveNotEndedAreUnknown) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Answer, "", 1.3)
      .on("shop", WaitFor::Answer, On::Unit, "db", 1.3)
      .during("shop", WaitFor::Answer, "db", {}, End::Runs, 0.3);
  const UnitCauses tree = causes_of(host.made(), "shop");
  const Cause& db = tree.causes.at(0).parts.at(0);
  ASSERT_EQ(db.parts.size(), 2U);
  EXPECT_EQ(db.parts[0].kind, Cause::Kind::Runs);
  EXPECT_NEAR(db.parts[0].threads, 0.3, 1e-9);
  EXPECT_EQ(db.parts[1].kind, Cause::Kind::Unknown);
  EXPECT_NEAR(db.parts[1].threads, 1.0, 1e-9);
  EXPECT_THAT(db.parts[1].because, HasSubstr("have not ended yet"));

  host.waits("db", WaitFor::Lock, "mutex", 1);
  EXPECT_THAT(sentence(host, "shop"), AllOf(HasSubstr("meanwhile"), Not(HasSubstr("%"))))
      << "most of it is unknown, so only averages are told";
}

// Of an answer by a thread of the same unit: the wait for another unit is no turn.
TEST(OwnChains, OtherUnitsAreHops) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Answer, "", 2)
      .on("shop", WaitFor::Answer, On::Unit, "shop", 2)
      .during("shop", WaitFor::Answer, "shop", {step(WaitFor::Answer, On::Unit, "db")}, End::Runs,
              2)
      .cpu("db", 1);
  EXPECT_THAT(
      sentence(host, "shop"),
      HasSubstr(
          "; for 100 % of their wait the thread that they wait for waits for an answer of db; "
          "100 % of that time db runs or waits for a CPU"));
}

// Threads that ask each other: each is a hop, only locks are taken in turn.
TEST(OwnChains, WhoAsksAnotherThreadIsNotSaidToDoWhatThatDoes) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Answer, "", 2)
      .on("shop", WaitFor::Answer, On::Unit, "shop", 2)
      .during("shop", WaitFor::Answer, "shop",
              {step(WaitFor::Answer, On::Unit, "shop"), kWritesToDisk}, End::Waits, 2);
  EXPECT_THAT(
      sentence(host, "shop"),
      HasSubstr("; for 100 % of their wait the thread that they wait for waits for an answer "
                "of the same unit; for 100 % of its wait the thread that it waits for waits "
                "for storage on device vda"));
}

// Other threads of its unit are no other unit to a process, be they its own or not.
TEST(OwnChains, AProcessBehindALockOfItsUnitIsToldWhatTheOneDoesThatHasIt) {
  const std::string process = "shopd (pid 7)";
  HandMadeInputs host;
  host.waits(process, WaitFor::Lock, "mutex", 1)
      .on(process, WaitFor::Lock, On::Unit, "shop", 1, "shopd")
      .during(process, WaitFor::Lock, "shop", {kWritesToDisk}, End::Waits, 0.5)
      .during(process, WaitFor::Lock, "shop", {kBehindAnother, kWritesToDisk}, End::Waits, 0.5);
  host.inputs.process = process;
  host.inputs.unit_of_process = "shop";
  const UnitCauses tree = causes_of(host.made(), process);
  const Cause& own = tree.causes.at(0).parts.at(0);
  ASSERT_EQ(own.kind, Cause::Kind::Self);
  ASSERT_EQ(own.parts.size(), 1U);
  EXPECT_NEAR(own.parts[0].threads, 1, 1e-9);
  EXPECT_THAT(sentence(host, process),
              HasSubstr("; for 100 % of their wait the thread that they wait for waits for storage "
                        "on device vda"));
}

// What a process waits for its own children is told apart, so its peers must not claim it again.
TEST(OwnChains, OfAProcessWaitsForItsChildrenAreNoWaitsForItsUnit) {
  const std::string process = "shopd (pid 7)";
  HandMadeInputs host;
  host.waits(process, WaitFor::Answer, "", 2)
      .on(process, WaitFor::Answer, On::Unit, "shop", 1.5)
      .on(process, WaitFor::Answer, On::Unit, "db", 0.5);
  host.inputs.sites.rows.back().child = {.ns = 1.5e9 * HandMadeInputs::kSeconds};
  host.inputs.peers.rows.front().child = {.ns = 1.5e9 * HandMadeInputs::kSeconds};
  host.inputs.process = process;
  host.inputs.unit_of_process = "shop";
  const Cause answer = causes_of(host.made(), process).causes.at(0);
  EXPECT_NEAR(answer.threads, 0.5, 1e-9);
  ASSERT_EQ(answer.parts.size(), 1U);
  EXPECT_EQ(answer.parts[0].name, "db");
  EXPECT_NEAR(answer.parts[0].threads, 0.5, 1e-9);
}

// Ends of a pipeline wait for each other all the time, whatever else one of them waits for.
TEST(OwnChains, AWaitForAnAnswerOfTheSameUnitIsNotStuck) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Answer, "", 2)
      .on("shop", WaitFor::Answer, On::Unit, "shop", 2)
      .during("shop", WaitFor::Answer, "shop", {kWritesToDisk}, End::Waits, 2);
  host.inputs.sites.rows.back().lasting = 2;
  host.inputs.sites.rows.back().oldest.ns = 60'000'000'000;
  WhyUnits units(host.made());
  const WhyVerdict verdict = verdict_of(units, "shop");
  EXPECT_EQ(verdict.culprit, "vda");
  EXPECT_FALSE(verdict.stuck);
}

}  // namespace
}  // namespace offcpud
