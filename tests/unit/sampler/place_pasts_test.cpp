// SPDX-License-Identifier: Apache-2.0
#include "sampler/place_pasts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "support/sampled_blocks.h"
#include "support/times.h"

namespace offcpud {
namespace {

using test::kMs;
using test::kSecond;

constexpr std::uint64_t kPlace = 77;

// Waits that ended in a window of 5 s.
struct Ended {
  std::uint64_t length_ns = 0;
  std::uint32_t samples = 0;
  std::uint64_t whole_ns = 0;  // what each stands for; 0: itself
};

class PlacePastsTest : public testing::Test {
 protected:
  static PlacePasts::Holder holder(std::uint32_t uid, std::uint64_t unit = 1) {
    return {.owner = uid, .unit = unit};
  }
  // A window with these waits, spread evenly, the last at its end.
  void window(const std::vector<Ended>& waits, std::uint64_t place = kPlace,
              const PlacePasts::Holder& by = holder(0)) {
    now_ns_ += 5 * kSecond;
    pasts_.begin_window(now_ns_, false);
    learn(waits, place, by);
  }
  void learn(const std::vector<Ended>& waits, std::uint64_t place, const PlacePasts::Holder& by) {
    WaitSum sum;
    sum.last_ended_ns = now_ns_;
    for (const Ended& wait : waits) {
      sum.samples += wait.samples;
      for (std::uint32_t i = 0; i < wait.samples; ++i) {
        sum.ended.add(wait.length_ns, std::max(wait.whole_ns, wait.length_ns));
      }
    }
    pasts_.learn(place, by, sum);
  }
  void windows(int count, const std::vector<Ended>& waits) {
    for (int i = 0; i < count; ++i) window(waits);
  }
  void silence(std::uint64_t seconds) {
    now_ns_ += seconds * kSecond;
    pasts_.begin_window(now_ns_, false);
  }
  // Of a block that has lasted for so long.
  std::shared_ptr<const UsualWaits> usual(double seconds, std::uint64_t place = kPlace) const {
    return pasts_.usual_of(place, now_ns_ - static_cast<std::uint64_t>(seconds * kSecond));
  }

  PlacePasts pasts_{8};
  std::uint64_t now_ns_ = 1'000 * kSecond;
};

TEST_F(PlacePastsTest, ASteadyPlaceThatFallsSilentHasAPast) {
  windows(24, {{.length_ns = 5 * kMs, .samples = 500}});
  EXPECT_FALSE(usual(0.1)) << "it is lively";
  silence(20);
  const auto past = usual(20);
  ASSERT_TRUE(past);
  EXPECT_NEAR(static_cast<double>(past->waits), 24 * 500, 24 * 500 * 0.1) << "they fade slowly";
  EXPECT_GE(past->p99_ns, 5 * kMs);
  EXPECT_LE(past->p99_ns, 6 * kMs) << "not longer than the longest";
  EXPECT_EQ(past->seen_ns, 23 * 5 * kSecond);
  EXPECT_EQ(past->silent_ns, 20 * kSecond);
  EXPECT_FALSE(usual(20, kPlace + 1)) << "another place";
}

TEST_F(PlacePastsTest, WhatIsUsualDoesNotFadeInSilence) {
  windows(240, {{.length_ns = 5 * kMs, .samples = 500}});
  silence(20);
  const auto soon = usual(20);
  silence(900);
  const auto late = usual(920);
  ASSERT_TRUE(soon && late);
  EXPECT_EQ(soon->waits, late->waits);
  EXPECT_EQ(soon->longest_ns, late->longest_ns);
}

TEST_F(PlacePastsTest, ANewPlaceHasNone) {
  windows(12, {{.length_ns = 5 * kMs, .samples = 500}});
  silence(20);
  EXPECT_FALSE(usual(20)) << "55 s are no past";
}

TEST_F(PlacePastsTest, FewWaitsAreNone) {
  windows(24, {{.length_ns = 5 * kMs, .samples = 4}});
  silence(40);
  EXPECT_FALSE(usual(40));
}

// A place of one sample a second may be lively and unheard for 10 s.
TEST_F(PlacePastsTest, SilenceIsNoAccidentOfSampling) {
  windows(60, {{.length_ns = 5 * kMs, .samples = 5, .whole_ns = 100 * kMs}});
  silence(10);
  EXPECT_FALSE(usual(10));
  silence(40);
  const auto past = usual(50);
  ASSERT_TRUE(past);
  EXPECT_NEAR(past->waits, 60 * 5 * 20 * 0.84, 60 * 5) << "each stands for 20, and they fade";
}

// Sampled by length, the short ones are rare among the samples and many in truth.
TEST_F(PlacePastsTest, WeightsCount) {
  windows(24, {{.length_ns = kMs / 2, .samples = 500, .whole_ns = 50 * kMs},
               {.length_ns = 400 * kMs, .samples = 100}});
  silence(20);
  const auto past = usual(20);
  ASSERT_TRUE(past);
  EXPECT_LT(past->p99_ns, 2 * kMs) << "they are 99.8 %, and one sixth of the samples is not";
  EXPECT_GE(past->longest_ns, 400 * kMs);
  EXPECT_LE(past->longest_ns, 480 * kMs);
}

TEST_F(PlacePastsTest, ASilenceLikeThatOfTheLastHourIsUsual) {
  windows(24, {{.length_ns = 5 * kMs, .samples = 500}});
  window({{.length_ns = 60 * kSecond, .samples = 1}});
  windows(24, {{.length_ns = 5 * kMs, .samples = 500}});
  silence(60);
  EXPECT_FALSE(usual(60));
  silence(60);
  EXPECT_FALSE(usual(120));
  silence(30);
  EXPECT_TRUE(usual(150));
}

TEST_F(PlacePastsTest, TimeInWhichNothingWasHeardIsNoPartOfItsAge) {
  for (int hour = 0; hour < 3; ++hour) {
    window({{.length_ns = 5 * kMs, .samples = 5'000}});
    silence(3'600);
  }
  window({{.length_ns = 5 * kMs, .samples = 5'000}});
  silence(20);
  EXPECT_FALSE(usual(20)) << "it was seen for moments";
  windows(4, {{.length_ns = 5 * kMs, .samples = 500}});
  windows(6, {});
  windows(4, {{.length_ns = 5 * kMs, .samples = 500}});
  silence(20);
  EXPECT_FALSE(usual(20)) << "40 s, 35 s without any, and 15 s";
  windows(2, {{.length_ns = 5 * kMs, .samples = 500}});
  silence(20);
  const auto past = usual(20);
  ASSERT_TRUE(past);
  EXPECT_EQ(past->seen_ns, (40 + 15 + 30) * kSecond) << "shorter silences are part of it";
}

// 4 samples a second for 55 s, every eleven minutes.
TEST_F(PlacePastsTest, HowManySamplesWouldHaveComeIsByItsLivelyTime) {
  for (int i = 0; i < 3; ++i) {
    silence(600);
    windows(12, {{.length_ns = 5 * kMs, .samples = 20}});
  }
  silence(9);
  EXPECT_FALSE(usual(9)) << "36 of them";
  silence(2);
  const auto past = usual(11);
  ASSERT_TRUE(past) << "44 of them";
  EXPECT_EQ(past->seen_ns, 3 * 55 * kSecond);
}

// A program that did something for two minutes and now does something else.
TEST_F(PlacePastsTest, ASilenceLongerThanThePastIsUsualFromNowOn) {
  windows(25, {{.length_ns = 5 * kMs, .samples = 500}});
  silence(119);
  EXPECT_TRUE(usual(119));
  silence(2);
  EXPECT_FALSE(usual(121));
}

// One thread of a pool sleeps for long while others there do not, or slept before they stopped.
TEST_F(PlacePastsTest, OnlyBlocksThatBeganWithTheSilenceAreUnusual) {
  windows(24, {{.length_ns = 5 * kMs, .samples = 500}});
  EXPECT_FALSE(usual(30));
  silence(20);
  EXPECT_FALSE(usual(100));
  EXPECT_TRUE(usual(21));
  EXPECT_TRUE(usual(12));
}

TEST_F(PlacePastsTest, WhatWasLostMayHaveBeenThere) {
  windows(24, {{.length_ns = 5 * kMs, .samples = 500}});
  silence(20);
  EXPECT_TRUE(usual(20));
  now_ns_ += 5 * kSecond;
  pasts_.begin_window(now_ns_, true);
  EXPECT_FALSE(usual(25));
  silence(12);
  EXPECT_TRUE(usual(12)) << "silent since";
}

TEST_F(PlacePastsTest, AUnitWithVeryManyPlacesTakesThoseOfNobodyElse) {
  const auto fill = [this](std::uint64_t base, std::size_t count, std::uint32_t uid,
                           std::uint64_t unit) {
    for (std::uint64_t i = 0; i < count; ++i) {
      learn({{.length_ns = kMs, .samples = 1}}, base + i, holder(uid, unit));
    }
  };
  const std::vector<Ended> steady = {{.length_ns = 5 * kMs, .samples = 500}};
  for (int i = 0; i < 24; ++i) {
    window(steady, 1, holder(0, 1));
    learn(steady, 2, holder(0, 2));
    fill(1'000'000 * (i + 1), 10'000, 1'000, 3);
  }
  EXPECT_EQ(pasts_.size(), 8U);
  EXPECT_GT(pasts_.dropped(), 200'000U);
  silence(20);
  EXPECT_TRUE(usual(20, 1));
  EXPECT_TRUE(usual(20, 2));
  fill(100, 1'000, 0, 4);
  EXPECT_EQ(pasts_.size(), 8U);
  EXPECT_TRUE(usual(20, 1)) << "another unit of the same user";
  EXPECT_TRUE(usual(20, 2));
}

TEST_F(PlacePastsTest, TheLatestPlacesOfAUnitReplaceItsOldest) {
  for (std::uint64_t place = 1; place <= 10; ++place) {
    for (int i = 0; i < 24; ++i) window({{.length_ns = 5 * kMs, .samples = 500}}, place);
  }
  EXPECT_EQ(pasts_.size(), 8U);
  EXPECT_EQ(pasts_.dropped(), 2U);
  silence(20);
  EXPECT_TRUE(usual(20, 10));
  EXPECT_FALSE(usual(20, 2)) << "gone";
}

StackFrame frame(const char* function, const char* object) {
  StackFrame frame;
  frame.function = function;
  frame.object = object;
  return frame;
}

TEST_F(PlacePastsTest, APlaceIsUnitProcessReasonAndFunctions) {
  const std::vector<StackFrame> user = {frame("take", "shopd"), frame("main", "shopd")};
  const std::vector<StackFrame> other = {frame("takem", "shopd"), frame("ain", "shopd")};
  const std::vector<StackFrame> kernel = {frame("pipe_read", "[kernel]")};
  const test::BlockRecord record(1);
  const std::uint64_t place = pasts_.place_of("/a", record.sample, user, kernel);
  EXPECT_EQ(pasts_.place_of("/a", test::BlockRecord(5).of(9).sample, user, kernel), place)
      << "of any process of this name";
  EXPECT_NE(pasts_.place_of("/b", record.sample, user, kernel), place);
  EXPECT_NE(pasts_.place_of("/a", record.sample, other, kernel), place);
  EXPECT_EQ(pasts_.place_of("/a", record.sample, user, {}), place);
  EXPECT_NE(pasts_.place_of("/a", record.sample, kernel, user), place);
  EXPECT_NE(pasts_.place_of("/a", record.sample, {}, user), place);
  EXPECT_NE(pasts_.place_of("/a", record.sample, {}, user),
            pasts_.place_of("/a", record.sample, {}, kernel));
  EXPECT_NE(pasts_.place_of("/a", test::BlockRecord(1).of_process_named("x").sample, user, kernel),
            place);
  EXPECT_NE(PlacePasts().place_of("/a", record.sample, user, kernel), place)
      << "nobody can foresee it";
}

}  // namespace
}  // namespace offcpud
