// SPDX-License-Identifier: Apache-2.0
#include "ctl/answer_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/snapshot_json.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Snapshot minute() {
  Snapshot snapshot;
  snapshot.begin = WallTime(std::chrono::seconds(1'700'000'000));
  snapshot.end = snapshot.begin + std::chrono::seconds(60);
  snapshot.duration = std::chrono::milliseconds(60'012);
  return snapshot;
}

std::string sentence_of(const Snapshot& snapshot, const MergedFrom& from = {.snapshots = 1}) {
  return summary_sentence(snapshot_summary(snapshot, from));
}

TEST(AnswerSummary, SaysHowLongHowMuchAndHowExactly) {
  Snapshot snapshot = minute();
  // Two of 10 ms, of which each stands for 40 ms, and one that was kept for certain.
  snapshot.entries = {{.ns = 80'000'000, .variance = 2 * 40e6 * 30e6}, {.ns = 2'000'000'000}};
  EXPECT_EQ(sentence_of(snapshot),
            "2.08 s blocked (standard error 49 ms) in 1 min "
            "(2023-11-14T22:13:20.000Z to 2023-11-14T22:14:20.000Z)");
}

TEST(AnswerSummary, SaysThatNothingWasSampledAndHowMuchThatMayHide) {
  Snapshot snapshot = minute();
  const std::string nothing =
      "no matching wait was sampled in 1 min "
      "(2023-11-14T22:13:20.000Z to 2023-11-14T22:14:20.000Z)";
  EXPECT_EQ(sentence_of(snapshot), nothing);  // not known
  const std::pair<std::chrono::nanoseconds, const char*> bounds[] = {
      {std::chrono::microseconds(100), "300 µs"},
      {std::chrono::milliseconds(10), "30 ms"},
      {std::chrono::minutes(10), "30 min"}};
  for (const auto& [interval, bound] : bounds) {
    snapshot.sampling_interval = interval;
    EXPECT_EQ(sentence_of(snapshot), nothing + "; short waits that sampling missed add up to " +
                                         bound + " at most, over all threads");
  }
  snapshot.entries = {{.ns = 1'000'000'000}};
  EXPECT_THAT(sentence_of(snapshot), Not(HasSubstr("sampling missed")));
}

TEST(AnswerSummary, KnowsNoBoundWhereWaitsAreMissing) {
  Snapshot complete = minute();
  complete.sampling_interval = std::chrono::milliseconds(10);
  EXPECT_THAT(sentence_of(complete), HasSubstr("sampling missed"));
  EXPECT_THAT(sentence_of(complete, {.snapshots = 9, .unreadable = 1}),
              Not(HasSubstr("sampling missed")));
  Snapshot narrowed = complete;
  narrowed.captured = {"snapshots.min_duration=1s"};
  EXPECT_THAT(sentence_of(narrowed), Not(HasSubstr("sampling missed")));
  Snapshot lossy = complete;
  lossy.lost_of_any_ns = 1;
  EXPECT_THAT(sentence_of(lossy), Not(HasSubstr("sampling missed")));
}

TEST(AnswerSummary, SaysThatSamplesOfTheEarlierRangeWereLost) {
  Snapshot before = minute();
  before.lost_of_any_ns = 1'500'000'000;
  const StackDifference difference = difference_of(before, minute(), Normalize::No);
  EXPECT_THAT(summary_sentence(snapshot_summary(difference, {.snapshots = 1}, {.snapshots = 1})),
              EndsWith("; no stacks were kept of 1.5 s on this host; some may belong to "
                       "this answer"));
}

TEST(AnswerSummary, SaysWhatIsMissing) {
  Snapshot snapshot = minute();
  snapshot.partial = true;
  snapshot.captured = {"snapshots.reasons=[disk]"};
  const std::string sentence = sentence_of(snapshot, {.snapshots = 9, .unreadable = 1});
  EXPECT_THAT(sentence, HasSubstr("(9 snapshots, 2023"));
  EXPECT_THAT(sentence, EndsWith("; snapshots that could not be read: 1; offcpud stopped within "
                                 "this time; captured with snapshots.reasons=[disk] only"));
}

TEST(AnswerSummary, SaysThatSamplesWereLost) {
  Snapshot snapshot = minute();
  snapshot.lost_of_any_ns = 1'500'000'000;
  EXPECT_THAT(sentence_of(snapshot), HasSubstr("; no stacks were kept of 1.5 s on this host; "));
}

TEST(AnswerSummary, SaysWhatItIsComparedWith) {
  const StackDifference difference = difference_of(minute(), minute(), Normalize::No);
  EXPECT_THAT(summary_sentence(snapshot_summary(difference, {.snapshots = 1}, {.snapshots = 3})),
              HasSubstr("; compared with 0 s blocked in 1 min (3 snapshots, 2023"));
}

TEST(AnswerSummary, KeepsWithinAHeader) {
  Snapshot snapshot = minute();
  snapshot.captured = {std::string(10'000, 'x')};
  const std::string summary = snapshot_summary(snapshot, {.snapshots = 1});
  EXPECT_LT(summary.size(), 4096U);
  EXPECT_THAT(summary_sentence(summary), HasSubstr("too long"));
}

TEST(AnswerSummary, IsOneLineOfAscii) {
  Snapshot snapshot = minute();
  snapshot.captured = {"cgroups: \n\xff\u00e9"};
  const std::string summary = snapshot_summary(snapshot, {.snapshots = 1});
  for (const char byte : summary) EXPECT_TRUE(byte >= ' ' && byte < 0x7f) << int{byte};
  EXPECT_THAT(summary_sentence(summary), Not(HasSubstr("\n")));
}

TEST(AnswerSummary, IsNothingWithoutOne) {
  for (const char* const summary : {"", "no JSON", "{}", "[]", R"({"off_cpu_seconds":"x"})"}) {
    EXPECT_EQ(summary_sentence(summary), "") << summary;
  }
}

}  // namespace
}  // namespace offcpud
