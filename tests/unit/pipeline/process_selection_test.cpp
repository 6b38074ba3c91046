// SPDX-License-Identifier: Apache-2.0
#include "pipeline/process_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "support/thread_walks.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProcessSelectionTest : public ::testing::Test {
 protected:
  ProcessRow& row(std::uint32_t pid) {
    ProcessRow& row = rows_[pid];
    if (row.pid == 0) {
      row.pid = pid;
      row.comm = "p" + std::to_string(pid);
      row.histograms[0] = test::waits({1});
    }
    return row;
  }

  // A walk in which these processes waited; those that are not named exist and did not.
  std::vector<std::uint32_t> walk(const std::map<std::uint32_t, std::uint64_t>& actionable,
                                  std::size_t max_series = 1000) {
    for (auto& [pid, process] : rows_) process.actionable_ns = 0;
    for (const auto& [pid, ns] : actionable) row(pid).actionable_ns = ns;
    selection_.rank(candidates(), now_);
    return select(max_series);
  }
  std::vector<std::uint32_t> select(std::size_t max_series = 1000) {
    selection_.select(candidates(), now_, max_series);
    std::vector<std::uint32_t> exported;
    for (const auto& [pid, process] : rows_) {
      if (process.exported) exported.push_back(pid);
    }
    return exported;
  }
  std::vector<ProcessCandidate> candidates() {
    std::vector<ProcessCandidate> all;
    for (auto& [pid, process] : rows_) all.push_back({{pid, process.start_ns}, &process});
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.row->actionable_ns > b.row->actionable_ns;
    });
    return all;
  }

  MonotonicTime now_{1h};
  std::map<std::uint32_t, ProcessRow> rows_;
  ProcessSelection selection_{{.top = 2, .linger = 60s, .is_chosen = {}}};
};

TEST_F(ProcessSelectionTest, TheTopIsExported) {
  EXPECT_THAT(walk({{1, 10}, {2, 30}, {3, 20}}), ElementsAre(2, 3));
}

TEST_F(ProcessSelectionTest, WhoNeverWaitedIsNotInTheTop) {
  EXPECT_THAT(walk({{1, 0}, {2, 5}, {3, 0}}), ElementsAre(2));
}

TEST_F(ProcessSelectionTest, KernelThreadsTakeNoPlaceOfProcesses) {
  row(1).kernel_thread = true;
  EXPECT_THAT(walk({{1, 40}, {2, 30}, {3, 20}, {4, 10}}), ElementsAre(2, 3));
  selection_.set_options({.top = 0, .linger = 0s, .is_chosen = [](const auto&) { return true; }});
  EXPECT_THAT(walk({{1, 40}, {2, 30}}), ElementsAre(2, 3, 4));
}

TEST_F(ProcessSelectionTest, OneThatWasInTheTopStaysForLinger) {
  walk({{1, 10}, {2, 10}});
  now_ += 59s;
  EXPECT_THAT(walk({{1, 0}, {2, 10}, {3, 10}}), ElementsAre(1, 2, 3));
  now_ += 1s;
  EXPECT_THAT(walk({{2, 10}, {3, 10}}), ElementsAre(2, 3));
}

TEST_F(ProcessSelectionTest, OneThatEndedLeavesAtOnceAndItsPidStartsAnew) {
  walk({{1, 10}});
  rows_.erase(1);
  EXPECT_THAT(walk({{2, 1}}), ElementsAre(2));
  row(1).start_ns = 7;
  EXPECT_THAT(walk({{2, 1}, {3, 5}, {1, 0}}), ElementsAre(2, 3));
}

TEST_F(ProcessSelectionTest, TheTopIsBoundedAndTheLongestOutLeavesFirst) {
  for (std::uint32_t pid = 1; pid <= 9; pid += 2) {
    now_ += 1s;
    walk({{pid, 10}, {pid + 1, 10}});
  }
  EXPECT_THAT(select(), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10));
}

TEST_F(ProcessSelectionTest, NoTopMeansNone) {
  walk({{1, 10}});
  selection_.set_options({.top = 0, .linger = 60s, .is_chosen = {}});
  EXPECT_THAT(walk({{1, 10}}), IsEmpty());
}

TEST_F(ProcessSelectionTest, RulesSelectWhoeverMatches) {
  int calls = 0;
  selection_.set_options({.top = 0, .linger = 60s, .is_chosen = [&](const ProcessRow& process) {
                            ++calls;
                            return process.comm == "p2" || process.comm == "nginx";
                          }});
  EXPECT_THAT(walk({{1, 10}, {2, 0}}), ElementsAre(2));
  EXPECT_EQ(calls, 2);
  now_ += 30s;
  EXPECT_THAT(select(), ElementsAre(2));
  EXPECT_EQ(calls, 2) << "nothing changed";
  row(1).comm = "nginx";
  EXPECT_THAT(select(), ElementsAre(1, 2));
  EXPECT_EQ(calls, 3);
  row(2).labels = std::make_shared<const SubjectLabels>();
  select();
  EXPECT_EQ(calls, 4);
  now_ += ProcessSelection::kJudgedAgainAfter;
  select();
  EXPECT_EQ(calls, 6);
}

TEST_F(ProcessSelectionTest, WhatDoesNotFitIsCountedOnce) {
  row(1).histograms[1] = test::waits({1});  // two series
  EXPECT_THAT(walk({{1, 20}, {2, 10}}, 2), ElementsAre(1));
  EXPECT_EQ(selection_.unfit_total(), 1U);
  EXPECT_THAT(walk({{1, 20}, {2, 10}}, 2), ElementsAre(1));
  EXPECT_EQ(selection_.unfit_total(), 1U);
  EXPECT_THAT(walk({{1, 20}, {2, 10}}, 3), ElementsAre(1, 2));
}

TEST_F(ProcessSelectionTest, OneThatIsExportedKeepsItsRoom) {
  EXPECT_THAT(walk({{1, 10}}, 1), ElementsAre(1));
  EXPECT_THAT(walk({{1, 0}, {2, 50}}, 1), ElementsAre(1));
  rows_.erase(1);
  EXPECT_THAT(walk({{2, 50}}, 1), ElementsAre(2));
}

TEST_F(ProcessSelectionTest, AProcessThatHasNoPidHereHasNoSeries) {
  row(1).pid = 0;
  rows_[1].actionable_ns = 10;
  selection_.rank(candidates(), now_);
  EXPECT_THAT(select(), IsEmpty());
}

}  // namespace
}  // namespace offcpud
