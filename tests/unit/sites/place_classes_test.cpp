// SPDX-License-Identifier: Apache-2.0
#include "sites/place_classes.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

constexpr ProcessPlace kPlace{.tgid = 7, .process_start_ns = 5, .place = 3};
constexpr ShareOwner kUser = 1'000;

PlaceClasses::Times times(double lock, double work) {
  PlaceClasses::Times times{};
  times[static_cast<std::size_t>(WaitFor::Lock)] = lock;
  times[static_cast<std::size_t>(WaitFor::Work)] = work;
  return times;
}

TEST(PlaceClasses, SayTheLastSharesOfAPlaceOfOneProcess) {
  PlaceClasses classes;
  const MonotonicTime now{};
  EXPECT_EQ(classes.find(kPlace, now), nullptr);
  EXPECT_TRUE(classes.put(kPlace, kUser, times(1e9, 3e9), now));
  ASSERT_NE(classes.find(kPlace, now), nullptr);
  EXPECT_EQ(*classes.find(kPlace, now), times(0.25, 0.75));
  EXPECT_TRUE(classes.put(kPlace, kUser, times(2, 0), now));
  EXPECT_EQ(*classes.find(kPlace, now), times(1, 0));
  EXPECT_TRUE(classes.put(kPlace, kUser, times(0, 0), now)) << "nothing was seen";
  EXPECT_EQ(*classes.find(kPlace, now), times(1, 0));
  ProcessPlace other = kPlace;
  other.process_start_ns = 6;
  EXPECT_EQ(classes.find(other, now), nullptr) << "another process of this number";
}

TEST(PlaceClasses, AreBoundedAndForget) {
  PlaceClasses classes;
  MonotonicTime now{};
  ProcessPlace at = kPlace;
  for (at.place = 1; at.place <= PlaceClasses::kMost; ++at.place) {
    ASSERT_TRUE(classes.put(at, kUser, times(1, 0), now));
  }
  EXPECT_FALSE(classes.put(at, kUser, times(1, 0), now));
  now += PlaceClasses::kKept + std::chrono::seconds(1);
  EXPECT_EQ(classes.find(kPlace, now), nullptr);
  EXPECT_TRUE(classes.put(at, kUser, times(1, 0), now));
}

TEST(PlaceClasses, OneUsersPlacesNeitherKeepOutNorPushOutAnothers) {
  PlaceClasses classes;
  MonotonicTime now{};
  const auto fill = [&] {
    now += std::chrono::seconds(10);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
      classes.put({.tgid = 100 + i % 20, .process_start_ns = 1, .place = 1 + i}, 2'000, times(1, 0),
                  now);
    }
  };
  ProcessPlace after = kPlace;
  after.tgid = 8;
  EXPECT_TRUE(classes.put(kPlace, kUser, times(1, 3), now));
  for (int windows = 0; windows < 3; ++windows) fill();
  EXPECT_FALSE(classes.put(after, kUser, times(3, 1), now))
      << "a place of the other user had to go";
  fill();
  ASSERT_NE(classes.find(kPlace, now), nullptr);
  EXPECT_EQ(*classes.find(kPlace, now), times(0.25, 0.75));
  ASSERT_NE(classes.find(after, now), nullptr);
  EXPECT_EQ(*classes.find(after, now), times(0.75, 0.25));
}

}  // namespace
}  // namespace offcpud
