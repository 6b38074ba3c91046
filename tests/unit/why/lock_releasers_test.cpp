// SPDX-License-Identifier: Apache-2.0
// Who ended waits for locks whose holders nobody can see.
#include "why/lock_releasers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/why/hosts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using test::holder;
using test::sentence;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using On = UnitPeer::On;
using ReleasedBy = UnitRelease::By;

constexpr const char* kSite = "postgresql-heavyweight-lock";

UnitRelease release(std::uint32_t pid, std::uint32_t tid, std::uint32_t samples,
                    const std::string& thread = "postgres") {
  UnitRelease row{.unit = "db", .site = kSite, .kind = ReleasedBy::Thread, .by = "db"};
  row.process = "postgres";
  row.thread = thread;
  row.pid = pid;
  row.tid = tid;
  row.ns = row.squares = row.samples = samples;
  return row;
}

UnitRelease by_nobody(std::uint32_t samples) {
  UnitRelease row = release(0, 0, samples);
  row.kind = ReleasedBy::Nobody;
  return row;
}

Source<UnitRelease> source(std::vector<UnitRelease> rows) {
  Source<UnitRelease> made;
  made.rows = std::move(rows);
  made.sort();
  return made;
}

TEST(LockReleasers, AreToldWithShareEvidenceAndError) {
  const auto found =
      releasers_of(source({release(28704, 28704, 95), release(7, 7, 5)}), "db", kSite);
  ASSERT_NE(found, nullptr);
  ASSERT_THAT(found->by, SizeIs(2));
  EXPECT_EQ(found->by[0].pid, 28704U);
  EXPECT_TRUE(found->by[0].own);
  EXPECT_DOUBLE_EQ(found->by[0].share, 0.95);
  // Beta(96, 6): its variance is 96 * 6 / (102 * 102 * 103).
  EXPECT_NEAR(found->by[0].error, std::sqrt(96.0 * 6 / (102.0 * 102 * 103)), 1e-12);
  EXPECT_EQ(found->seen, 100U);
  EXPECT_DOUBLE_EQ(found->nobody, 0);
  EXPECT_EQ(releasers_text(*found),
            "usually released by postgres (pid 28704) of the same unit (95 % ± 2.3 % of the time "
            "of 100 waits "
            "seen)");
}

// However often the same was seen, the next one may be another.
TEST(LockReleasers, NothingIsCertain) {
  const auto found = releasers_of(source({release(7, 7, 3)}), "db", kSite);
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->by[0].share, 1);
  EXPECT_GT(found->by[0].error, 0.1);
}

// A sample that stands for much time is one look.
TEST(LockReleasers, ASampleThatStandsForManyIsNoMoreEvidence) {
  UnitRelease rare = release(7, 7, 4);
  rare.ns = 400;
  rare.squares = 4 * 100.0 * 100;
  const auto many = releasers_of(source({rare}), "db", kSite);
  const auto few = releasers_of(source({release(7, 7, 4)}), "db", kSite);
  EXPECT_DOUBLE_EQ(many->by[0].error, few->by[0].error);
}

TEST(LockReleasers, WhatATimeoutEndedSaysNothingOfTheLock) {
  const auto found = releasers_of(source({release(7, 7, 5), by_nobody(15)}), "db", kSite);
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->by[0].share, 1);
  EXPECT_EQ(found->seen, 5U);
  EXPECT_DOUBLE_EQ(found->nobody, 0.75);
  EXPECT_EQ(releasers_of(source({release(7, 7, 2), by_nobody(50)}), "db", kSite), nullptr)
      << "too few";
}

TEST(LockReleasers, OtherSitesAndUnitsAreNotMixedIn) {
  UnitRelease other = release(8, 8, 50);
  other.site = "mutex";
  UnitRelease of_others = release(9, 9, 50);
  of_others.unit = "web";
  const auto found = releasers_of(source({release(7, 7, 5), other, of_others}), "db", kSite);
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->by, SizeIs(1));
  EXPECT_EQ(found->by[0].pid, 7U);
  EXPECT_EQ(releasers_of(source({other}), "db", kSite), nullptr);
}

// Eight threads of one process in turn: the process is one, none of its threads is.
TEST(LockReleasers, AreToldApartNoFurtherThanLeavesOneWithHalf) {
  std::vector<UnitRelease> rows;
  for (std::uint32_t i = 0; i < 8; ++i) {
    rows.push_back(release(7, 100 + i, 10, "worker-" + std::to_string(i)));
  }
  const auto process = releasers_of(source(rows), "db", kSite);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(releasers_text(*process),
            "usually released by postgres (pid 7, 8 threads) of the same unit (100 % ± 1.2 % of "
            "the time of 80 "
            "waits seen)");
  rows[3] = release(7, 103, 200, "keeper");
  EXPECT_THAT(
      releasers_text(*releasers_of(source(rows), "db", kSite)),
      HasSubstr("usually released by thread keeper (tid 103 of postgres, pid 7) of the same "
                "unit (74 % ± "));
}

// Each connection is a process of its own.
TEST(LockReleasers, ManyProcessesOfOneNameAreOne) {
  std::vector<UnitRelease> rows;
  for (std::uint32_t i = 0; i < 20; ++i) rows.push_back(release(100 + i, 100 + i, 2));
  EXPECT_THAT(releasers_text(*releasers_of(source(rows), "db", kSite)),
              HasSubstr("usually released by postgres (20 threads) of the same unit (100 % "));
}

TEST(LockReleasers, ManyOfWhomNoneHasHalf) {
  std::vector<UnitRelease> rows;
  for (std::uint32_t i = 0; i < 5; ++i) {
    rows.push_back(release(100 + i, 100 + i, 20));
    rows.back().process = "client" + std::to_string(i);
    rows.back().by = "shop" + std::to_string(i);
  }
  const auto found = releasers_of(source(rows), "db", kSite);
  EXPECT_THAT(found->by, SizeIs(3)) << "few are told";
  EXPECT_THAT(releasers_text(*found),
              HasSubstr("released by many, most often client0 of shop0 (20 % ± "));
}

// The sentence first says that nobody is seen to hold it.
TEST(LockReleasers, TheSentenceGoesOnWithThem) {
  HandMadeInputs host;
  host.waits("db", WaitFor::Lock, kSite, 8).released(release(28704, 28704, 95));
  EXPECT_EQ(
      sentence(host, "db"),
      "db: 8.0 threads wait for a lock (postgresql-heavyweight-lock); who holds it is unknown, "
      "because nobody can see who holds a lock of its kind; usually released by postgres (pid "
      "28704) of the same unit (100 % ± 1.0 % of the time of 95 waits seen)");
}

TEST(LockReleasers, SoDoesThatOfALockOfTheUnitsOwn) {
  HandMadeInputs host;
  host.waits("db", WaitFor::Lock, "java-monitor", 5)
      .on("db", WaitFor::Lock, On::Unit, "db", 5, "java");
  UnitRelease row = release(5, 12, 40, "invoice-worker");
  row.site = "java-monitor";
  row.process = "java";
  host.released(row);
  EXPECT_THAT(sentence(host, "db"),
              HasSubstr("of the same unit (java); nobody can see who holds a lock of its kind; "
                        "usually released by thread invoice-worker (tid 12 of java, pid 5) of the "
                        "same unit (100 % ± 2.3 % of the time of 40 waits seen)"));
}

TEST(LockReleasers, AreNotToldWhereAHolderIsKnown) {
  HandMadeInputs host = test::locked(holder(UnitHolder::Does::Runs));
  UnitRelease row = release(7, 7, 95);
  row.unit = "app";
  row.site = "mutex";
  host.released(row);
  EXPECT_THAT(sentence(host, "app"), Not(HasSubstr("released")));
}

}  // namespace
}  // namespace offcpud
