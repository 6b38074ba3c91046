// SPDX-License-Identifier: Apache-2.0
#include "sampler/chain_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/known_cgroups.h"
#include "support/times.h"
#include "unit/sampler/web_and_db.h"

namespace offcpud {
namespace {

using test::kDb;
using test::kMs;
using test::kWeb;
using End = ChainWaits::End;

// Thread `tid` of `cgroup` waited from `since` to `until` (ms) for an answer of thread `on` of
// `of`.
ChainedBlock wait(std::uint32_t tid, std::uint64_t cgroup, std::uint64_t since, std::uint64_t until,
                  std::uint32_t on, std::uint64_t of, double stands_for = 1) {
  ChainedBlock block{.tid = tid,
                     .tgid = tid,
                     .local_tgid = tid,
                     .process_start_ns = 7,
                     .since_ns = since * kMs,
                     .ended_ns = until * kMs,
                     .stands_for = stands_for,
                     .wait_for = WaitFor::Answer,
                     .cgroup_id = cgroup};
  block.peer = {
      .kind = WaitPeer::Kind::Process, .process = {.tgid = on, .cgroup_id = of}, .tid = on};
  return block;
}

ChainedBlock sleep(std::uint32_t tid, std::uint64_t cgroup, std::uint64_t since,
                   std::uint64_t until) {
  return {.tid = tid,
          .tgid = tid,
          .since_ns = since * kMs,
          .ended_ns = until * kMs,
          .wait_for = WaitFor::Timer,
          .cgroup_id = cgroup};
}

class ChainSumsOfAWindow : public testing::Test {
 protected:
  ChainSumsOfAWindow() { intervals_.fill(std::chrono::milliseconds(1)); }
  // What the waits of kWeb are divided into. `begin`: of the window, in ms.
  ChainSums::Chains chains_of(const std::vector<ChainedBlock>& waits,
                              std::vector<ChainedBlock> others, std::uint64_t begin = 0,
                              bool is_whole = true) {
    ChainSums sums(paths_, names_, intervals_);
    others.insert(others.end(), waits.begin(), waits.end());
    const IntervalChains chains(std::move(others), 0);
    sums.add(waits, begin * kMs, chains, is_whole);
    return std::move(sums).take();
  }
  std::vector<ChainWaits> divided(const std::vector<ChainedBlock>& waits,
                                  std::vector<ChainedBlock> others, std::uint64_t begin = 0,
                                  bool is_whole = true) {
    return chains_of(waits, std::move(others), begin, is_whole).of_cgroups;
  }
  static double total_ms(const std::vector<ChainWaits>& rows) {
    return std::accumulate(rows.begin(), rows.end(), 0.0, [](double sum, const ChainWaits& row) {
      return sum + row.time.ns / kMs;
    });
  }
  static double ms_of(const std::vector<ChainWaits>& rows, End end, std::size_t steps) {
    double sum = 0;
    for (const ChainWaits& row : rows) {
      if (row.end == end && row.steps.size() == steps) sum += row.time.ns / kMs;
    }
    return sum;
  }

  test::KnownCgroups cgroups_{{kWeb, "web.service"}, {kDb, "db.service"}};
  CgroupPaths of_window_{cgroups_.directory()};
  WindowPaths paths_{of_window_};
  DeviceNames devices_{"/nonexistent"};
  PeerNames names_{paths_, devices_};
  ChainSums::Intervals intervals_{};
};

TEST_F(ChainSumsOfAWindow, AWaitIsDividedByWhatTheOtherDid) {
  const auto rows = divided({wait(1, kWeb, 100, 200, 2, kDb)}, {sleep(2, kDb, 120, 150)});
  EXPECT_NEAR(total_ms(rows), 100, 1e-6);
  EXPECT_NEAR(ms_of(rows, End::Runs, 0), 70, 1e-6);
  EXPECT_NEAR(ms_of(rows, End::Waits, 1), 30, 1e-6);
  for (const ChainWaits& row : rows) {
    EXPECT_EQ(row.cgroup, "/web.service");
    EXPECT_EQ(row.on, "db.service");
  }
}

TEST_F(ChainSumsOfAWindow, OnlyThePartWithinTheWindowCounts) {
  const auto rows = divided({wait(1, kWeb, 100, 200, 2, kDb)}, {sleep(2, kDb, 120, 150)}, 140);
  EXPECT_NEAR(total_ms(rows), 60, 1e-6);
  EXPECT_NEAR(ms_of(rows, End::Waits, 1), 10, 1e-6);
  EXPECT_TRUE(divided({wait(1, kWeb, 100, 200, 2, kDb)}, {}, 200).empty()) << "it ended before";
}

// It needs no samples, so none may be missing.
TEST_F(ChainSumsOfAWindow, AnAccountTellsWhoIsQueued) {
  ChainedBlock asks = wait(1, kWeb, 100, 200, 2, kDb);
  asks.past = std::make_shared<const PastBlocks>(PastBlocks{
      {.tid = 2, .tgid = 2, .since_ns = 50 * kMs, .ended_ns = 100 * kMs},
      {.tid = 2, .tgid = 2, .since_ns = 200 * kMs, .ended_ns = 200 * kMs, .queued_ns = 30 * kMs}});
  const auto rows = divided({asks}, {}, 0, false);
  EXPECT_NEAR(total_ms(rows), 100, 1e-6);
  EXPECT_NEAR(ms_of(rows, End::OnCpu, 0), 70, 1e-6);
  EXPECT_NEAR(ms_of(rows, End::Queued, 0), 30, 1e-6);
}

TEST_F(ChainSumsOfAWindow, WhatIsDoneForOthersIsApart) {
  ChainedBlock asks = wait(1, kWeb, 100, 200, 2, kDb);
  asks.past = std::make_shared<const PastBlocks>(
      PastBlocks{{.tid = 2, .tgid = 2, .since_ns = 50 * kMs, .ended_ns = 90 * kMs}});
  const auto rows = divided({asks}, {wait(3, kDb, 80, 160, 2, kDb)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].busy_after, BusyAfter(0));
  EXPECT_NEAR(rows[0].time.ns, 60.0 * kMs, 1);
  EXPECT_EQ(rows[1].busy_after, BusyAfter());
  EXPECT_NEAR(rows[1].time.ns, 40.0 * kMs, 1);
}

// The pieces of one wait are sampled together, so k waits like it add k - 1 times their square.
TEST_F(ChainSumsOfAWindow, ASampledWaitStandsForOthers) {
  const auto rows = divided({wait(1, kWeb, 100, 200, 2, kDb, 10)}, {sleep(2, kDb, 100, 200)});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].time.ns, 1000.0 * kMs, 1);
  EXPECT_NEAR(rows[0].time.variance_ns2, 10 * 9 * 1e4 * kMs * kMs, 1e9);
}

TEST_F(ChainSumsOfAWindow, WhatNobodyActsOnIsNotDivided) {
  ChainedBlock work = wait(1, kWeb, 100, 200, 2, kDb);
  work.wait_for = WaitFor::Work;
  ChainedBlock nobody = wait(1, kWeb, 200, 300, 2, kDb);
  nobody.peer = {};
  ChainedBlock child = wait(1, kWeb, 300, 400, 2, kDb);
  child.kind = OFFCPUD_BLOCKED_CHILD;
  EXPECT_TRUE(divided({work, nobody, child}, {}).empty());
}

TEST_F(ChainSumsOfAWindow, IfBlocksAreMissingNobodyIsSaidToRun) {
  const auto rows = divided({wait(1, kWeb, 100, 200, 2, kDb)}, {sleep(2, kDb, 120, 150)}, 0, false);
  EXPECT_NEAR(ms_of(rows, End::Runs, 0), 0, 1e-6);
  EXPECT_NEAR(ms_of(rows, End::Unknown, 0), 70, 1e-6);
  EXPECT_NEAR(ms_of(rows, End::Waits, 1), 30, 1e-6);
}

// A thread that was watched for less than three sampling intervals may have had waits that no
// sample has.
TEST_F(ChainSumsOfAWindow, WhoWasHardlyWatchedIsNotSaidToRun) {
  intervals_.fill(std::chrono::milliseconds(50));
  const auto rows = divided({wait(1, kWeb, 100, 200, 2, kDb)}, {});
  EXPECT_NEAR(ms_of(rows, End::Unknown, 0), 100, 1e-6);
  intervals_.fill(std::chrono::milliseconds(25));
  const auto watched = divided({wait(1, kWeb, 100, 200, 2, kDb)}, {});
  EXPECT_NEAR(ms_of(watched, End::Runs, 0), 100, 1e-6);
  EXPECT_NEAR(watched.at(0).time.variance_ns2, 25.0 * kMs * 25 * kMs, 1e9)
      << "one interval of the time may be waits";
}

TEST_F(ChainSumsOfAWindow, RowsBeyondThoseOfACgroupAreUnknownAndNothingIsMissing) {
  std::vector<ChainedBlock> waits;
  for (std::uint32_t i = 0; i < 2 * ChainSums::kMostOfCgroup; ++i) {
    const std::uint64_t of = 1000 + i;
    cgroups_.create(of, "unit" + std::to_string(i) + ".service");
    waits.push_back(wait(1, kWeb, 100 + i, 200 + 2 * i, 5000 + i, of));
  }
  const double all =
      std::accumulate(waits.begin(), waits.end(), 0.0, [](double sum, const auto& each) {
        return sum + static_cast<double>(each.ended_ns - each.since_ns) / kMs;
      });
  const auto rows = divided(waits, {});
  EXPECT_NEAR(total_ms(rows), all, 1e-3);
  const auto known =
      std::ranges::count_if(rows, [](const ChainWaits& row) { return row.end != End::Unknown; });
  EXPECT_LE(static_cast<std::size_t>(known), ChainSums::kMostOfCgroup);
}

// The rows of one process.
std::vector<ChainWaits> rows_of(const std::vector<ChainWaits>& all, std::uint32_t pid) {
  std::vector<ChainWaits> rows;
  std::ranges::copy_if(all, std::back_inserter(rows),
                       [pid](const ChainWaits& row) { return row.pid == pid; });
  return rows;
}

// Threads 2 and 4 of db serve processes 1 and 3 of web: one runs, the other one sleeps.
TEST_F(ChainSumsOfAWindow, ProcessesOfOneCgroupAreToldApart) {
  const auto chains =
      chains_of({wait(1, kWeb, 100, 200, 2, kDb), wait(3, kWeb, 100, 200, 4, kDb, 3)},
                {sleep(4, kDb, 120, 200)});
  EXPECT_NEAR(total_ms(chains.of_cgroups), 400, 1e-6);
  const auto first = rows_of(chains.of_processes, 1), second = rows_of(chains.of_processes, 3);
  EXPECT_EQ(first.size() + second.size(), chains.of_processes.size());
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].end, End::Runs);
  EXPECT_EQ(first[0].process_start_ns, 7U);
  EXPECT_EQ(first[0].on, "db.service");
  EXPECT_NEAR(ms_of(first, End::Runs, 0), 100, 1e-6);
  EXPECT_NEAR(ms_of(second, End::Runs, 0), 60, 1e-6);
  EXPECT_NEAR(ms_of(second, End::Waits, 1), 240, 1e-6);
  EXPECT_EQ(chains.processes_left_out, 0U);
}

TEST_F(ChainSumsOfAWindow, AProcessOutsideOfThePidNamespaceHasNoRowsOfItsOwn) {
  ChainedBlock outside = wait(1, kWeb, 100, 200, 2, kDb);
  outside.local_tgid = 0;
  const auto chains = chains_of({outside}, {});
  EXPECT_EQ(chains.of_cgroups.size(), 1U);
  EXPECT_TRUE(chains.of_processes.empty());
}

TEST_F(ChainSumsOfAWindow, OfTooManyProcessesThoseThatWaitedLongestAreKept) {
  constexpr auto kFit = static_cast<std::uint32_t>(ChainSums::kMostOfProcesses);
  constexpr std::uint32_t kMore = 10, kFirst = 10'000;
  std::vector<ChainedBlock> waits;
  for (std::uint32_t i = 0; i < kFit + kMore; ++i) {
    const std::uint32_t server = 100'000 + i;  // nothing is known of it but that it runs
    waits.push_back(wait(kFirst + i, kWeb, 100, 200 + i, server, kDb));
  }
  const auto chains = chains_of(waits, {});
  EXPECT_EQ(chains.of_processes.size(), kFit);
  EXPECT_EQ(chains.processes_left_out, kMore);
  EXPECT_TRUE(rows_of(chains.of_processes, kFirst + kMore - 1).empty()) << "it waited least";
  EXPECT_EQ(rows_of(chains.of_processes, kFirst + kMore).size(), 1U);
  EXPECT_LE(chains.of_cgroups.size(), ChainSums::kMostOfCgroup) << "that is one sum in any case";
}

// What is left of a process would stand for all of it.
TEST_F(ChainSumsOfAWindow, RowsBeyondThoseOfAProcessAreUnknown) {
  std::vector<ChainedBlock> waits;
  for (std::uint32_t i = 0; i < 2 * ChainSums::kMostOfProcess; ++i) {
    const std::uint64_t of = 1000 + i;
    cgroups_.create(of, "unit" + std::to_string(i) + ".service");
    waits.push_back(wait(1, kWeb, 100 + 300 * i, 200 + 301 * i, 5000 + i, of));
  }
  const auto chains = chains_of(waits, {});
  const auto known = std::ranges::count_if(
      chains.of_processes, [](const ChainWaits& row) { return row.end != End::Unknown; });
  EXPECT_EQ(static_cast<std::size_t>(known), ChainSums::kMostOfProcess);
  EXPECT_NEAR(total_ms(chains.of_processes), total_ms(chains.of_cgroups), 1e-3);
}

}  // namespace
}  // namespace offcpud
