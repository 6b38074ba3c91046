// SPDX-License-Identifier: Apache-2.0
#include "sampler/release_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/known_cgroups.h"
#include "unit/sampler/web_and_db.h"

namespace offcpud {
namespace {

using test::kDb;
using test::kWeb;
using By = ReleasedWaits::By;

// A wait of 1 ns that this thread of process `tgid` ended; 0: nobody did.
EndedBlock ended_by(std::uint32_t tgid, std::uint32_t tid, std::string_view thread,
                    double stands_for = 1) {
  EndedBlock block{.since_ns = 100, .ended_ns = 101, .stands_for = stands_for};
  if (tgid == 0) return block;
  block.by = {.tgid = tgid, .local_tgid = tgid, .start_ns = 7, .cgroup_id = kDb};
  std::string_view("postgres").copy(block.by.comm.data(), block.by.comm.size());
  block.by_tid = tid;
  thread.copy(block.by_thread.data(), block.by_thread.size());
  return block;
}

class ReleaseSumsOfAWindow : public testing::Test {
 protected:
  test::KnownCgroups cgroups_{{kWeb, "web.service"}, {kDb, "db.service"}};
  CgroupPaths of_window_{cgroups_.directory()};
  WindowPaths paths_{of_window_};
  DeviceNames devices_{"/nonexistent"};
  PeerNames names_{paths_, devices_};
  ReleaseSums sums_{paths_, names_};
};

TEST_F(ReleaseSumsOfAWindow, ThreadsOfOnePlaceAreToldApart) {
  sums_.add(ended_by(20, 20, "postgres", 3), kWeb, "row-lock");
  sums_.add(ended_by(20, 20, "postgres"), kWeb, "row-lock");
  sums_.add(ended_by(20, 21, "writer"), kWeb, "row-lock");
  sums_.add(ended_by(20, 20, "postgres"), kWeb, "mutex");
  const auto rows = std::move(sums_).take();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].cgroup, "/web.service");
  EXPECT_EQ(rows[0].site, "row-lock");
  EXPECT_EQ(rows[0].kind, By::Thread);
  EXPECT_EQ(rows[0].by, "db.service");
  EXPECT_EQ(rows[0].process, "postgres");
  EXPECT_EQ(rows[0].pid, 20U);
  EXPECT_EQ(rows[0].tid, 20U);
  EXPECT_DOUBLE_EQ(rows[0].ns, 4);
  EXPECT_DOUBLE_EQ(rows[0].squares, 10);
  EXPECT_EQ(rows[0].samples, 2U);
  EXPECT_EQ(rows[1].thread, "writer");
  EXPECT_EQ(rows[2].site, "mutex");
}

TEST_F(ReleaseSumsOfAWindow, WhatNobodyEndedIsARowOfItsOwn) {
  sums_.add(ended_by(20, 20, "postgres", 9), kWeb, "row-lock");
  sums_.add(ended_by(0, 0, ""), kWeb, "row-lock");
  const auto rows = std::move(sums_).take();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(std::ranges::count(rows, By::Nobody, &ReleasedWaits::kind), 1);
}

// A long wait is worth more than many short ones.
TEST_F(ReleaseSumsOfAWindow, WaitsCountByTheirTime) {
  EndedBlock long_one = ended_by(20, 20, "postgres");
  long_one.ended_ns = 1'100;
  sums_.add(long_one, kWeb, "row-lock");
  for (int i = 0; i < 5; ++i) sums_.add(ended_by(30, 30, "postgres"), kWeb, "row-lock");
  EndedBlock began_unseen = ended_by(30, 30, "postgres");
  began_unseen.since_ns = 0;
  sums_.add(began_unseen, kWeb, "row-lock");
  const auto rows = std::move(sums_).take();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(rows[0].ns, 1'000);
  EXPECT_EQ(rows[0].pid, 20U);
  EXPECT_DOUBLE_EQ(rows[1].ns, 5);
  EXPECT_EQ(rows[1].samples, 5U) << "how long another one took is not known";
}

// Another namespace's numbers of threads are not known.
TEST_F(ReleaseSumsOfAWindow, ANumberOfAnotherPidNamespaceIsNotTold) {
  EndedBlock inner = ended_by(20, 21, "writer");
  inner.by.local_tgid = 4;
  sums_.add(inner, kWeb, "row-lock");
  const auto rows = std::move(sums_).take();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].pid, 4U);
  EXPECT_EQ(rows[0].tid, 0U);
}

TEST_F(ReleaseSumsOfAWindow, FurtherThreadsAreOthersAndNoWaitIsMissing) {
  constexpr std::uint32_t kThreads = 3 * ReleaseSums::kMostOfPlace;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    sums_.add(ended_by(20, 100 + i, "writer", 1 + i), kWeb, "row-lock");
  }
  sums_.add(ended_by(0, 0, ""), kWeb, "row-lock");
  const auto rows = std::move(sums_).take();
  EXPECT_EQ(std::ranges::count(rows, By::Thread, &ReleasedWaits::kind),
            static_cast<std::ptrdiff_t>(ReleaseSums::kMostOfPlace));
  EXPECT_EQ(std::ranges::count(rows, By::Nobody, &ReleasedWaits::kind), 1) << "however few";
  double ns = 0;
  std::uint32_t samples = 0;
  for (const ReleasedWaits& row : rows) {
    ns += row.ns;
    samples += row.samples;
    if (row.kind == By::Thread) {
      EXPECT_GT(row.tid, 100 + kThreads - 1 - ReleaseSums::kMostOfPlace);
    }
  }
  EXPECT_DOUBLE_EQ(ns, kThreads * (kThreads + 1) / 2.0 + 1);
  EXPECT_EQ(samples, kThreads + 1);
}

TEST_F(ReleaseSumsOfAWindow, PlacesWithMostTimeHaveTheRoom) {
  constexpr int kPlaces = 2 * ReleaseSums::kMostOfAll;
  for (int i = 0; i < kPlaces; ++i) {
    sums_.add(ended_by(20, 20, "postgres", i + 1), kWeb, "lock" + std::to_string(i));
  }
  const auto rows = std::move(sums_).take();
  ASSERT_EQ(rows.size(), ReleaseSums::kMostOfAll);
  EXPECT_EQ(rows.front().site, "lock" + std::to_string(kPlaces - 1));
}

}  // namespace
}  // namespace offcpud
