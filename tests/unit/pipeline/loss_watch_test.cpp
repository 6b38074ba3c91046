// SPDX-License-Identifier: Apache-2.0
#include "pipeline/loss_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offcpud {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

auto loss(const char* cause, std::uint64_t events) {
  return AllOf(Field(&LossCount::cause, cause), Field(&LossCount::events, events));
}

TEST(LossWatch, IsSilentWhileNothingIsLost) {
  LossWatch watch;
  EXPECT_THAT(watch.grown({{"missed_switch", 0}, {"program_busy", 0}}), IsEmpty());
  EXPECT_THAT(watch.grown({{"missed_switch", 0}, {"program_busy", 0}}), IsEmpty());
}

TEST(LossWatch, TellsOfLossesBeforeTheFirstCall) {
  LossWatch watch;
  EXPECT_THAT(watch.grown({{"missed_switch", 3}, {"program_busy", 0}}),
              ElementsAre(loss("missed_switch", 3)));
}

TEST(LossWatch, TellsEachIncreaseOnceWithTheWholeCount) {
  LossWatch watch;
  (void)watch.grown({{"missed_switch", 3}, {"program_busy", 0}});
  EXPECT_THAT(watch.grown({{"missed_switch", 3}, {"program_busy", 0}}), IsEmpty());
  EXPECT_THAT(watch.grown({{"missed_switch", 3}, {"program_busy", 1}}),
              ElementsAre(loss("program_busy", 1)));
  EXPECT_THAT(watch.grown({{"missed_switch", 4}, {"program_busy", 3}}),
              ElementsAre(loss("missed_switch", 4), loss("program_busy", 3)));
}

TEST(LossWatch, IsSilentAboutWhatLosesNothing) {
  LossWatch watch;
  EXPECT_THAT(watch.grown({{"takers_full", 7}, {"missed_switch", 1}}),
              ElementsAre(loss("missed_switch", 1)));
}

TEST(LossWatch, TellsOfACauseThatIsNew) {
  LossWatch watch;
  (void)watch.grown({{"missed_switch", 0}});
  EXPECT_THAT(watch.grown({{"missed_switch", 0}, {"stall_ends_full", 2}}),
              ElementsAre(loss("stall_ends_full", 2)));
}

}  // namespace
}  // namespace offcpud
