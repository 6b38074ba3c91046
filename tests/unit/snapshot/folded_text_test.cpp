// SPDX-License-Identifier: Apache-2.0
#include "snapshot/folded_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/snapshots.h"
#include "unit/metrics/golden.h"
#include "unit/snapshot/folded_lines.h"

namespace offcpud {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string folded(const Snapshot& snapshot, FoldedText::Options options = {}) {
  return test::read_all(FoldedText(snapshot, options));
}

std::vector<test::FoldedLine> lines(const Snapshot& snapshot, FoldedText::Options options = {}) {
  return test::parse_folded(folded(snapshot, options));
}

TEST(FoldedText, IsTheGoldenOne) {
  test::expect_same_as_file("tests/data/golden/snapshot.folded", folded(test::ordinary_snapshot()));
}

TEST(FoldedText, WithWakersIsTheGoldenOne) {
  test::expect_same_as_file("tests/data/golden/snapshot.offwake",
                            folded(test::ordinary_snapshot(), {.wakers = true}));
}

TEST(FoldedText, WithoutAnnotationsOnlyTheDelimiterTellsTheKernel) {
  const auto read = lines(test::ordinary_snapshot(), {.annotate_kernel = false});
  EXPECT_THAT(read.at(1).frames,
              ElementsAre("pp", "_start", "main", "read", "-", "entry_SYSCALL_64_after_hwframe",
                          "do_syscall_64", "anon_pipe_read", "schedule"));
}

TEST(FoldedText, TheSameStackOfSeveralProcessesIsOneLine) {
  Snapshot s = test::ordinary_snapshot();
  for (std::uint32_t pid = 1; pid <= 100; ++pid) {
    s.entries.push_back(s.entries.front());
    s.entries.back().pid = pid;
    s.entries.back().cgroup = "/other";
  }
  EXPECT_THAT(lines(s), SizeIs(3));
}

TEST(FoldedText, KeepsTheTotalToAMicrosecond) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    const Snapshot s = test::random_snapshot(seed, 200);
    for (const bool wakers : {false, true}) {
      EXPECT_EQ(test::sum(lines(s, {.wakers = wakers})), test::total_ns(s) / 1'000) << seed;
    }
  }
}

TEST(FoldedText, FractionsOfAMicrosecondAreCarriedAndZeroLinesLeftOut) {
  Snapshot s;
  for (int i = 0; i < 10; ++i) {
    s.entries.push_back({.comm = std::string(1, static_cast<char>('a' + i)), .ns = 250});
  }
  EXPECT_EQ(folded(s), "d 1\nh 1\n");
}

TEST(FoldedText, OfNothingIsEmpty) {
  EXPECT_EQ(folded(Snapshot{}), "");
  EXPECT_EQ(folded(Snapshot{}, {.wakers = true}), "");
}

TEST(FoldedText, EveryOffWakeLineHasTheSeparatorOnceAndAWakerOrWhyThereIsNone) {
  for (const auto& line : lines(test::hostile_snapshot(), {.wakers = true})) {
    EXPECT_EQ(std::count(line.frames.begin(), line.frames.end(), "--"), 1);
    EXPECT_NE(line.frames.front(), "--");
    EXPECT_NE(line.frames.back(), "--");
  }
  Snapshot unknown;
  unknown.entries.push_back({.comm = "a", .ns = 5'000});
  EXPECT_EQ(folded(unknown, {.wakers = true}), "a;--;[no waker] 5\n");
}

TEST(FoldedText, LongLinesLoseTheirOutermostFrames) {
  Snapshot s;
  for (std::uint32_t i = 0; i < 200; ++i) {
    s.frames.push_back({std::string(1'000, 'x') + std::to_string(i), "o", "", i, false});
  }
  StackEntry entry{.comm = "deep", .waker_comm = "w", .ns = 1'000};
  for (std::uint32_t i = 0; i < 200; ++i) entry.user.push_back(i);
  entry.waker_user = entry.user;
  s.entries.push_back(entry);
  for (const bool wakers : {false, true}) {
    const std::string text = folded(s, {.wakers = wakers});
    EXPECT_LE(text.size(), FoldedText::kMostLineBytes + 1);
    EXPECT_GT(text.size(), FoldedText::kMostLineBytes - 2'000);
    const auto read = test::parse_folded(text);
    ASSERT_THAT(read, SizeIs(1));
    EXPECT_EQ(read[0].frames[0], "deep");
    EXPECT_EQ(read[0].frames[1], "[frames left out]");
    if (wakers) {
      EXPECT_THAT(read[0].frames, Contains("--"));
      EXPECT_EQ(read[0].frames.back(), "w");
    } else {
      EXPECT_TRUE(read[0].frames.back().ends_with("x199"));
    }
    EXPECT_EQ(read[0].value, 1U);
  }
}

TEST(FoldedText, ReadsThroughABufferOfAnySize) {
  const Snapshot s = test::random_snapshot(3);
  const std::string whole = folded(s);
  for (const std::size_t size : {1U, 7U, 4'096U, 1'000'000U}) {
    EXPECT_EQ(test::read_all(FoldedText(s, {}), size), whole);
  }
}

TEST(FoldedText, OfADifferenceHasTheEarlierNumberFirst) {
  Snapshot before, after;
  before.entries = {{.comm = "both", .ns = 3'000}, {.comm = "gone", .ns = 4'000}};
  after.entries = {{.comm = "both", .ns = 5'000}, {.comm = "new", .ns = 6'000}};
  const StackDifference difference = difference_of(before, after, Normalize::No);
  EXPECT_EQ(test::read_all(FoldedText(difference, {})), "both 3 5\ngone 4 0\nnew 0 6\n");
}

}  // namespace
}  // namespace offcpud
