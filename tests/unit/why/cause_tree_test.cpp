// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "unit/why/inputs.h"
#include "why/cause.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = Cause::Kind;
using On = UnitPeer::On;
using By = UnitTaker::By;

constexpr std::size_t kLock = static_cast<std::size_t>(WaitFor::Lock);

const Cause& part(const Cause& cause, Kind kind, const std::string& name = {}) {
  for (const Cause& each : cause.parts) {
    if (each.kind == kind && (name.empty() || each.name == name)) return each;
  }
  static const Cause nothing;
  ADD_FAILURE() << "no such part: " << name;
  return nothing;
}

// Nowhere do parts add up to more than the node.
void expect_no_more_attributed_than_waited(const Cause& cause) {
  double sum = 0;
  for (const Cause& each : cause.parts) {
    sum += each.threads;
    expect_no_more_attributed_than_waited(each);
  }
  EXPECT_LE(sum, cause.threads * (1 + 1e-9)) << cause.name;
}

TEST(CauseTree, WaitsAreDividedByWhatTheyAreForAndThenByWhom) {
  HandMadeInputs host;
  host.waits("edge", WaitFor::Answer, "socket", 2, 0.1)
      .waits("edge", WaitFor::Answer, "", 1)
      .waits("edge", WaitFor::Lock, "mutex", 0.5)
      .waits("edge", WaitFor::Work, "epoll", 7)
      .waits("edge", WaitFor::Unknown, "", 0.25)
      .on("edge", WaitFor::Answer, On::Unit, "app", 2.4, "python3")
      .on("edge", WaitFor::Answer, On::Remote, "10.0.0.7:443", 0.3)
      .on("edge", WaitFor::Answer, On::Unknown, "", 0.3);
  const UnitCauses tree = causes_of(host.made(), "edge");
  EXPECT_NEAR(tree.actionable, 3.5, 1e-9);
  EXPECT_NEAR(tree.error, 0.1, 1e-9);
  EXPECT_NEAR(tree.idle, 7, 1e-9);
  EXPECT_NEAR(tree.unknown, 0.25, 1e-9);
  ASSERT_THAT(tree.causes, SizeIs(4));
  const Cause& answer = tree.causes[0];
  EXPECT_EQ(name_of_for(answer.for_kind), "answer");
  EXPECT_EQ(answer.name, "socket") << "the site with most of it";
  EXPECT_THAT(answer.sites, SizeIs(2));
  ASSERT_THAT(answer.parts, SizeIs(3));
  EXPECT_EQ(answer.parts[0].name, "app");
  EXPECT_EQ(answer.parts[0].process, "python3");
  EXPECT_NEAR(answer.parts[0].threads, 2.4, 1e-9);
  EXPECT_NEAR(part(answer, Kind::Remote).threads, 0.3, 1e-9);
  EXPECT_NEAR(part(answer, Kind::Unknown).threads, 0.3, 1e-9);
  EXPECT_EQ(part(answer, Kind::Unknown).because, "the other end was not seen");
  EXPECT_EQ(main_cause(tree), &tree.causes[0]);
}

// Not all sockets are known before a table of them has been filled, once a minute.
TEST(CauseTree, OfAWaitYoungerThanAMinuteALaterLookMaySeeTheOtherEnd) {
  const auto because = [](std::uint64_t seconds, std::uint32_t lasting = 1) {
    HandMadeInputs host;
    host.waits("edge", WaitFor::Answer, "socket", 1);
    host.inputs.sites.rows.back().lasting = lasting;
    host.inputs.sites.rows.back().on_sockets = lasting;
    host.inputs.sites.rows.back().oldest.ns = seconds * 1'000'000'000;
    return part(causes_of(host.made(), "edge").causes.at(0), Kind::Unknown).because;
  };
  EXPECT_EQ(because(34), "the other end was not seen so far: ask again in a minute");
  EXPECT_EQ(because(61), "the other end was not seen");
  EXPECT_EQ(because(0), "the other end was not seen") << "its age is unknown";
  EXPECT_EQ(because(34, 0), "the other end was not seen") << "it has ended";
}

// No table has futures, joins and pipes. Nor does a young wait at a socket speak for others.
TEST(CauseTree, OnlyOfSocketsALaterLookMaySeeTheOtherEnd) {
  HandMadeInputs host;
  host.waits("edge", WaitFor::Answer, "python-future", 2);
  host.inputs.sites.rows.back().lasting = 2;
  host.inputs.sites.rows.back().oldest.ns = 34'000'000'000;
  host.waits("edge", WaitFor::Answer, "socket", 1);
  host.inputs.sites.rows.back().lasting = 1;
  host.inputs.sites.rows.back().on_sockets = 1;
  host.inputs.sites.rows.back().oldest.ns = 34'000'000'000;
  const auto because = [&host] {
    return part(causes_of(host.made(), "edge").causes.at(0), Kind::Unknown).because;
  };
  EXPECT_EQ(because(), "the other end was not seen");
  host.inputs.sites.rows.back().time.ns *= 3;  // now they are most of them
  EXPECT_EQ(because(), "the other end was not seen so far: ask again in a minute");
}

TEST(CauseTree, WhatSourcesClaimBeyondTheWaitIsTakenFromAllOfThem) {
  HandMadeInputs host;
  host.waits("edge", WaitFor::Answer, "", 1)
      .on("edge", WaitFor::Answer, On::Unit, "a", 1.5)
      .on("edge", WaitFor::Answer, On::Unit, "b", 0.5);
  const Cause answer = causes_of(host.made(), "edge").causes.at(0);
  EXPECT_NEAR(part(answer, Kind::Unit, "a").threads, 0.75, 1e-9);
  EXPECT_NEAR(part(answer, Kind::Unit, "b").threads, 0.25, 1e-9);
}

TEST(CauseTree, WhereASourceKnowsNothingItsReasonIsTold) {
  HandMadeInputs host;
  host.waits("edge", WaitFor::Answer, "", 1).cpu("edge", 0.1, 0.4);
  host.inputs.peers = {.rows = {}, .missing = "sockets are not followed"};
  host.inputs.takers = {.rows = {}, .missing = "this kernel does not tell"};
  const UnitCauses tree = causes_of(host.made(), "edge");
  EXPECT_EQ(part(tree.causes.at(0), Kind::Unknown).because, "sockets are not followed");
  EXPECT_EQ(part(tree.causes.at(1), Kind::Unknown).because, "this kernel does not tell");
}

TEST(CauseTree, WaitsForChildrenAreTheChildrensOwn) {
  HandMadeInputs host;
  host.for_children("shell", "shell", 1);
  const UnitCauses tree = causes_of(host.made(), "shell");
  EXPECT_THAT(tree.causes, IsEmpty());
  EXPECT_NEAR(tree.children, 1, 1e-9);
  EXPECT_NEAR(tree.actionable, 0, 1e-9);
}

// A login session whose programs are in units of their own.
TEST(CauseTree, ChildrenInAnotherUnitTakeNothingFromAnswersOfOthers) {
  HandMadeInputs host;
  host.waits("session", WaitFor::Answer, "", 0.1)
      .on("session", WaitFor::Answer, On::Unit, "nscd", 0.1)
      .for_children("session", "build", 1);
  const UnitCauses tree = causes_of(host.made(), "session");
  EXPECT_NEAR(tree.children, 1, 1e-9);
  ASSERT_EQ(tree.causes.size(), 1U);
  ASSERT_EQ(tree.causes[0].parts.size(), 1U);
  EXPECT_EQ(tree.causes[0].parts[0].name, "nscd");
  EXPECT_NEAR(tree.causes[0].parts[0].threads, 0.1, 1e-9);
}

TEST(CauseTree, WaitsForACpuAreDividedByWhoHadIt) {
  HandMadeInputs host;
  host.cpu("search", 0.2, 4, 1)
      .taken("search", By::Unit, "etl", 3.2)
      .taken("search", By::Same, "", 0.4)
      .taken("search", By::Kernel, "", 0.3)
      .taken("search", By::Unknown, "", 0.1);
  const UnitCauses tree = causes_of(host.made(), "search");
  ASSERT_THAT(tree.causes, SizeIs(2));
  const Cause& cpu = tree.causes[0];
  EXPECT_EQ(name_of_for(cpu.for_kind), "cpu");
  EXPECT_NEAR(part(cpu, Kind::Unit, "etl").threads, 3.2, 1e-9);
  EXPECT_NEAR(part(cpu, Kind::Self).threads, 0.4, 1e-9);
  EXPECT_NEAR(part(cpu, Kind::Kernel).threads, 0.3, 1e-9);
  EXPECT_NEAR(part(cpu, Kind::Unknown).threads, 0.1, 1e-9);
  EXPECT_EQ(tree.causes[1].parts.at(0).because, "its own limit, cpu.max");
}

TEST(CauseTree, WhoHoldsALockMayBeUnknown) {
  HandMadeInputs host;
  host.waits("db", WaitFor::Lock, "postgresql-heavyweight-lock", 8);
  const Cause lock = causes_of(host.made(), "db").causes.at(0);
  EXPECT_NEAR(part(lock, Kind::Unknown).threads, 8, 1e-9);
  EXPECT_EQ(part(lock, Kind::Unknown).because, "nobody can see who holds a lock of its kind");
}

// What the kernel forgot is one thing, what has not ended another.
TEST(CauseTree, EachUnknownPartKeepsItsOwnReason) {
  HandMadeInputs host;
  host.cpu("search", 0.2, 4).taken("search", By::Unit, "etl", 1);
  host.inputs.takers.rows.push_back({.unit = "search",
                                     .kind = By::Unknown,
                                     .because = "it is too long ago",
                                     .ns = 0.5 * HandMadeInputs::kSeconds * 1e9});
  const Cause cpu = causes_of(host.made(), "search").causes.at(0);
  std::map<std::string, double> unknown;
  for (const Cause& each : cpu.parts) {
    if (each.kind == Kind::Unknown) unknown[each.because] += each.threads;
  }
  ASSERT_THAT(unknown, SizeIs(2));
  EXPECT_NEAR(unknown["it is too long ago"], 0.5, 1e-9);
  EXPECT_NEAR(unknown["who had it is known only when a wait has ended"], 2.5, 1e-9);
}

TEST(CauseTree, WhatIsScaledDownLeavesNothingUnknown) {
  HandMadeInputs host;
  host.cpu("search", 0.2, 1)
      .taken("search", By::Unit, "etl", 3)
      .taken("search", By::Unknown, "", 1);
  const Cause cpu = causes_of(host.made(), "search").causes.at(0);
  ASSERT_THAT(cpu.parts, SizeIs(2));
  EXPECT_NEAR(part(cpu, Kind::Unit, "etl").threads, 0.75, 1e-9);
  EXPECT_NEAR(part(cpu, Kind::Unknown).threads, 0.25, 1e-9);
}

TEST(CauseTree, ManySmallPartsAreOthers) {
  HandMadeInputs host;
  host.waits("u", WaitFor::Answer, "", 30).on("u", WaitFor::Answer, On::Others, "", 1);
  for (int i = 0; i < 25; ++i) {
    host.on("u", WaitFor::Answer, On::Unit, "v" + std::to_string(i), 1 + 0.001 * i);
  }
  const Cause answer = causes_of(host.made(), "u").causes.at(0);
  expect_no_more_attributed_than_waited(answer);
  double all = 0;
  std::size_t others = 0;
  for (const Cause& each : answer.parts) {
    all += each.threads;
    if (each.kind == Kind::Others) ++others;
  }
  EXPECT_EQ(others, 1U);
  EXPECT_NEAR(all, 30, 1e-9);
}

TEST(CauseTree, WhateverSourcesSayNoMoreIsAttributedThanWasWaited) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> amount(0, 3);
  for (int i = 0; i < 300; ++i) {
    HandMadeInputs host;
    for (const WaitFor wait_for : {WaitFor::Lock, WaitFor::Answer, WaitFor::Storage}) {
      host.waits("u", wait_for, "s", amount(random), 0.1);
      for (const char* name : {"a", "b", "u"})
        host.on("u", wait_for, On::Unit, name, amount(random));
      host.on("u", wait_for, On::Device, "vda", amount(random));
    }
    host.cpu("u", amount(random), amount(random)).taken("u", By::Unit, "a", amount(random));
    const UnitCauses tree = causes_of(host.made(), "u");
    double sum = 0;
    for (const Cause& cause : tree.causes) {
      expect_no_more_attributed_than_waited(cause);
      double parts = 0;
      for (const Cause& each : cause.parts) parts += each.threads;
      EXPECT_NEAR(parts, cause.threads, 2e-3 * cause.threads + 2e-6) << "what is left is unknown";
      sum += cause.threads;
    }
    EXPECT_NEAR(sum, tree.actionable, 1e-9);
  }
}

TEST(CauseTree, AUnitOfWhichNothingIsKnownHasNoCauses) {
  HandMadeInputs host;
  EXPECT_THAT(causes_of(host.made(), "nobody").causes, IsEmpty());
  EXPECT_EQ(main_cause(causes_of(host.made(), "nobody")), nullptr);
  EXPECT_EQ(name_of_for(kLock), "lock");
}

// A thread that waits in io_uring waits for any of its requests.
TEST(CauseTree, WhoWaitsInIoUringIsToldWhyNobodyIsNamed) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Unknown, "io-uring", 1);
  const UnitCauses tree = causes_of(host.made(), "app");
  EXPECT_EQ(part(tree.causes.at(0), Kind::Unknown).because,
            "a wait in io_uring ends with any of its requests, and the kernel does not say with "
            "which");
}

}  // namespace
}  // namespace offcpud
