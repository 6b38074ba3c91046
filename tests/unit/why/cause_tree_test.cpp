// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

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
using Does = UnitChain::Hop::Does;

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
  host.waits("shell", WaitFor::Answer, "child", 1)
      .on("shell", WaitFor::Answer, On::Unit, "shell", 1);
  host.inputs.sites.rows[0].child = host.inputs.sites.rows[0].time;
  const UnitCauses tree = causes_of(host.made(), "shell");
  EXPECT_THAT(tree.causes, IsEmpty());
  EXPECT_NEAR(tree.children, 1, 1e-9);
  EXPECT_NEAR(tree.actionable, 0, 1e-9);
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

TEST(CauseTree, HoldersExplainWhatLasts) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Lock, "pthread-mutex", 5)
      .on("shop", WaitFor::Lock, On::Unit, "shop", 1)
      .held({.unit = "shop",
             .known = UnitHolder::Known::Named,
             .holder_unit = "report",
             .holder_process = "report",
             .holder_pid = 7,
             .holder_does = "it sleeps"},
            3)
      .held({.unit = "shop", .known = UnitHolder::Known::No, .why = "readers hold it"}, 1);
  const Cause lock = causes_of(host.made(), "shop").causes.at(0);
  EXPECT_NEAR(part(lock, Kind::Holder, "report").threads, 3, 1e-9);
  EXPECT_EQ(part(lock, Kind::Holder).because, "it sleeps");
  EXPECT_NEAR(part(lock, Kind::Self).threads, 1, 1e-9);
  EXPECT_NEAR(part(lock, Kind::Unknown).threads, 1, 1e-9);
  EXPECT_EQ(part(lock, Kind::Unknown).because, "readers hold it");
}

TEST(CauseTree, ALockOfAProgramIsKnownToTheProgramOnly) {
  HandMadeInputs host;
  host.waits("db", WaitFor::Lock, "postgresql-heavyweight-lock", 8);
  const Cause lock = causes_of(host.made(), "db").causes.at(0);
  EXPECT_EQ(part(lock, Kind::Unknown).because,
            "only the program knows who holds postgresql-heavyweight-lock");
}

TEST(CauseTree, ADeviceSaysWhoLoadsIt) {
  HandMadeInputs host;
  host.waits("db", WaitFor::Storage, "fsync", 2)
      .on("db", WaitFor::Storage, On::Device, "vda", 2)
      .used("vda", "backup", 9e6)
      .used("vda", "db", 1e6)
      .used("vdb", "other", 9e9);
  const Cause disk = causes_of(host.made(), "db").causes.at(0);
  const Cause& device = part(disk, Kind::Device, "vda");
  ASSERT_THAT(device.parts, SizeIs(2));
  EXPECT_EQ(device.parts[0].name, "backup");
  EXPECT_NEAR(device.parts[0].load, 0.9, 1e-9);
  EXPECT_EQ(device.parts[0].threads, 0) << "load is no waiting";
  EXPECT_EQ(device.parts[1].kind, Kind::Self);
}

// "checkout's 120 ms: 71 % postgres running, 18 % postgres on disk, 9 % queued, 2 % unknown".
TEST(CauseTree, ChainsDivideAWaitByWhatTheOthersDid) {
  HandMadeInputs host;
  host.waits("checkout", WaitFor::Answer, "", 1)
      .on("checkout", WaitFor::Answer, On::Unit, "postgres", 1)
      .chain("checkout", WaitFor::Answer, {{"postgres", Does::Runs}}, 0.71)
      .chain("checkout", WaitFor::Answer, {{"postgres", Does::Waits}, {"nvme0n1", Does::Disk}},
             0.18)
      .chain("checkout", WaitFor::Answer, {{"postgres", Does::Queued}}, 0.09)
      .chain("checkout", WaitFor::Answer, {{"elsewhere", Does::Runs}}, 5)
      .chain("other", WaitFor::Answer, {{"postgres", Does::Runs}}, 5);
  const Cause answer = causes_of(host.made(), "checkout").causes.at(0);
  const Cause& postgres = part(answer, Kind::Unit, "postgres");
  EXPECT_NEAR(part(postgres, Kind::Runs).threads, 0.71, 1e-9);
  EXPECT_NEAR(part(postgres, Kind::Device, "nvme0n1").threads, 0.18, 1e-9);
  EXPECT_NEAR(part(postgres, Kind::For).threads, 0.09, 1e-9);
  EXPECT_NEAR(part(postgres, Kind::Unknown).threads, 0.02, 1e-9);
  expect_no_more_attributed_than_waited(answer);
}

TEST(CauseTree, ChainsOfSeveralHopsNest) {
  HandMadeInputs host;
  host.waits("edge", WaitFor::Answer, "", 1)
      .on("edge", WaitFor::Answer, On::Unit, "app", 1)
      .chain("edge", WaitFor::Answer,
             {{"app", Does::Waits}, {"redis", Does::Waits}, {"worker", Does::Runs}}, 0.6)
      .chain("edge", WaitFor::Answer, {{"app", Does::Waits}, {"redis", Does::Runs}}, 0.3);
  const Cause answer = causes_of(host.made(), "edge").causes.at(0);
  const Cause& redis = part(part(answer, Kind::Unit, "app"), Kind::Unit, "redis");
  EXPECT_NEAR(redis.threads, 0.9, 1e-9);
  EXPECT_NEAR(part(part(redis, Kind::Unit, "worker"), Kind::Runs).threads, 0.6, 1e-9);
  EXPECT_NEAR(part(redis, Kind::Runs).threads, 0.3, 1e-9);
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
      host.chain("u", wait_for, {{"a", Does::Waits}, {"b", Does::Runs}}, amount(random));
      host.chain("u", wait_for, {{"a", Does::Queued}}, amount(random));
    }
    host.cpu("u", amount(random), amount(random)).taken("u", By::Unit, "a", amount(random));
    host.held({.unit = "u", .known = UnitHolder::Known::Named, .holder_unit = "a"}, amount(random));
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

}  // namespace
}  // namespace offcpud
