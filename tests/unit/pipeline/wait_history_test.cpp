// SPDX-License-Identifier: Apache-2.0
#include "pipeline/wait_history.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/thread_walks.h"
#include "unit/pipeline/short_names.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kDisk;
using test::kLock;
using test::kPoll;
using test::kSecond;
using test::kWork;
using test::waits;

SubjectSeries row(const std::string& cgroup) {
  SubjectSeries row;
  row.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
  return row;
}

// `threads` in progress whose ages add up to `s` seconds.
std::shared_ptr<const WaitsInProgress> open(std::size_t kind, std::uint32_t threads, double s,
                                            std::uint32_t uncounted = 0) {
  auto in_progress = std::make_shared<WaitsInProgress>();
  in_progress->open[kind] = {.counted_ns = static_cast<std::uint64_t>(s * 1e9),
                             .threads = threads,
                             .uncounted = uncounted};
  return in_progress;
}

class WaitHistoryTest : public ::testing::Test {
 protected:
  // The View `step` after the last one.
  std::vector<std::shared_ptr<const WaitStep>> pass(std::chrono::seconds step,
                                                    std::vector<SubjectSeries> subjects) {
    now_ += step;
    View view;
    view.taken = MonotonicTime(now_);
    view.subjects = std::move(subjects);
    return history_.record(view);
  }

  static double waited(const WaitStep& step, const std::string& cgroup, std::size_t kind) {
    double seconds = 0;
    bool matches = false;
    step.for_each([&](const auto& subject) { matches = subject.labels->cgroup == cgroup; },
                  [&](const auto& wait) {
                    if (matches && wait.kind == kind) {
                      seconds += static_cast<double>(wait.waited_ns) * 1e-9;
                    }
                  },
                  [](std::size_t, std::uint64_t) {});
    return seconds;
  }

  WaitHistory history_;
  std::chrono::seconds now_{100};
};

TEST_F(WaitHistoryTest, TheFirstViewBeginsTheHistory) {
  EXPECT_TRUE(pass(0s, {row("/a")}).empty());
}

TEST_F(WaitHistoryTest, AStepHasWhatEndedInItAndNothingFromBefore) {
  SubjectSeries a = row("/a");
  a.running_ns = 7 * kSecond;
  a.histograms[kDisk] = waits({0.5, 0.5});
  pass(0s, {a});
  a.running_ns = 9 * kSecond;
  a.histograms[kDisk] = waits({0.5, 0.5, 0.25, 1});
  const auto steps = pass(10s, {a});
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0]->length(), 10s);
  ASSERT_EQ(steps[0]->subjects.size(), 1U);
  EXPECT_EQ(steps[0]->subjects[0].running_ns, 2 * kSecond);
  EXPECT_EQ(steps[0]->counts, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(steps[0]->slots,
            (std::vector<std::uint8_t>{static_cast<std::uint8_t>(offcpud_slot(kSecond / 4)),
                                       static_cast<std::uint8_t>(offcpud_slot(kSecond))}));
  EXPECT_DOUBLE_EQ(waited(*steps[0], "/a", kDisk), 1.25);
}

// A wait of 100 s of which 3 s lie in the second step counts with 3 s there.
TEST_F(WaitHistoryTest, OnlyThePartOfAWaitWithinTheStepCounts) {
  SubjectSeries a = row("/a");
  a.in_progress = open(kDisk, 1, 87);
  pass(0s, {a});
  a.in_progress = open(kDisk, 1, 97);
  EXPECT_DOUBLE_EQ(waited(*pass(10s, {a}).back(), "/a", kDisk), 10);
  a.in_progress = open(kDisk, 0, 0);
  a.histograms[kDisk] = waits({100});
  EXPECT_DOUBLE_EQ(waited(*pass(10s, {a}).back(), "/a", kDisk), 3);
}

// The histograms are read a moment before the threads: the end of a long wait is in neither.
TEST_F(WaitHistoryTest, AWaitThatEndsBetweenTheTwoReadingsMakesNoMoreThanFits) {
  SubjectSeries a = row("/a");
  a.in_progress = open(kDisk, 1, 864'000);
  pass(0s, {a});
  a.in_progress = open(kDisk, 0, 0);
  EXPECT_DOUBLE_EQ(waited(*pass(10s, {a}).back(), "/a", kDisk), 0);
  a.histograms[kDisk] = waits({864'010});
  EXPECT_DOUBLE_EQ(waited(*pass(10s, {a}).back(), "/a", kDisk), 10);
}

TEST_F(WaitHistoryTest, AThreadAsleepSinceBeforeTheDaemonWaitsTheWholeStep) {
  SubjectSeries a = row("/a");
  a.in_progress = open(kPoll, 2, 0, 2);
  pass(0s, {a});
  EXPECT_DOUBLE_EQ(waited(*pass(10s, {a}).back(), "/a", kPoll), 20);
}

TEST_F(WaitHistoryTest, ANewCgroupCountsFromZeroAndOneThatIsGoneNotAtAll) {
  SubjectSeries gone = row("/b");
  gone.histograms[kDisk] = waits({1});
  pass(0s, {gone});
  SubjectSeries fresh = row("/a");
  fresh.histograms[kDisk] = waits({2});
  SubjectSeries folded = row("/(removed)");
  folded.histograms[kDisk] = waits({1});
  const auto step = pass(10s, {folded, fresh}).back();
  ASSERT_EQ(step->subjects.size(), 1U);
  EXPECT_DOUBLE_EQ(waited(*step, "/a", kDisk), 2);
}

// Idle waits are not kept: nobody asks how long they were.
TEST_F(WaitHistoryTest, AStepHasTheLengthsOfWhatWaitsWereFor) {
  const auto estimated = [](const std::vector<double>& seconds) {
    auto histogram = std::make_shared<EstimatedHistogram>();
    *histogram += *waits(seconds);
    return histogram;
  };
  SubjectSeries quiet = row("/a"), busy = row("/b");
  busy.waits[kLock] = estimated({1});
  pass(0s, {quiet, busy});
  busy.waits[kLock] = estimated({1, 1, 0.25});
  busy.waits[kWork] = estimated({8});
  const auto step = pass(10s, {quiet, busy}).back();
  std::map<std::pair<WaitFor, double>, std::uint64_t> lengths;
  step->for_each_length(
      [&](const SubjectLabels& labels, WaitFor wait_for, std::size_t slot, std::uint64_t count) {
        EXPECT_EQ(labels.cgroup, "/b");
        lengths[{wait_for, slot_bound_seconds(slot)}] += count;
      });
  const std::map<std::pair<WaitFor, double>, std::uint64_t> expected = {{{WaitFor::Lock, 1.0}, 1},
                                                                        {{WaitFor::Lock, 0.25}, 1}};
  EXPECT_EQ(lengths, expected);
  EXPECT_EQ(pass(10s, {quiet, busy}).back()->lengths.size(), 0U);
}

TEST_F(WaitHistoryTest, FrequentPassesMakeNoMoreStepsAndLeaveNoGap) {
  SubjectSeries a = row("/a");
  pass(0s, {a});
  std::vector<std::shared_ptr<const WaitStep>> steps;
  for (int i = 0; i < 100; ++i) {
    a.running_ns += kSecond;
    steps = pass(1s, {a});
  }
  EXPECT_EQ(steps.size(), 12U);  // eleven of 9 s, and the last second
  EXPECT_EQ(steps.back()->length(), 1s);
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_EQ(steps[i]->begin, steps[i - 1]->end);
  const std::uint64_t ran = std::accumulate(
      steps.begin(), steps.end(), std::uint64_t{0},
      [](auto sum, const auto& step) { return sum + step->subjects[0].running_ns; });
  EXPECT_EQ(ran, 100 * kSecond);
}

TEST_F(WaitHistoryTest, KeepsTenMinutes) {
  SubjectSeries a = row("/a");
  std::vector<std::shared_ptr<const WaitStep>> steps;
  for (int i = 0; i < 200; ++i) steps = pass(10s, {a});
  EXPECT_EQ(steps.size(), 60U);
  EXPECT_EQ(steps.back()->end - steps.front()->begin, 600s);
}

TEST_F(WaitHistoryTest, ManyCgroupsMakeItShorterRatherThanLarger) {
  std::vector<SubjectSeries> subjects;
  for (int i = 0; i < 50; ++i) subjects.push_back(row("/" + std::to_string(100 + i)));
  history_ = WaitHistory({.bytes = 20'000});
  std::vector<std::shared_ptr<const WaitStep>> steps;
  for (int i = 0; i < 50; ++i) {
    for (SubjectSeries& subject : subjects) subject.running_ns += kSecond;
    steps = pass(10s, subjects);
  }
  std::size_t bytes = 0;
  for (const auto& step : steps) bytes += step->bytes();
  EXPECT_LE(bytes, 20'000U);
  EXPECT_GT(bytes, 15'000U);
  EXPECT_EQ(steps.back()->subjects.size(), 50U);
}

}  // namespace
}  // namespace offcpud
