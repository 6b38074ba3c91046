// SPDX-License-Identifier: Apache-2.0
#include "ctl/stacks_total.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/snapshot_json.h"
#include "base/printable.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

using testing::HasSubstr;

TEST(StacksTotal, IsTheTimeOfAllRows) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Snapshot snapshot = test::random_snapshot(seed, 200);
    const auto total = stacks_total(snapshot_json(snapshot, {.snapshots = 1}));
    ASSERT_TRUE(total) << total.error().message();
    EXPECT_EQ(total->ns, test::total_ns(snapshot));
    EXPECT_THAT(total->origin, HasSubstr("1 snapshots"));
  }
}

TEST(StacksTotal, OfADifferenceHasBothAmounts) {
  const Snapshot before = test::random_snapshot(1), after = test::random_snapshot(2);
  const auto total =
      stacks_total(snapshot_json(difference_of(before, after, Normalize::No), {}, {}));
  ASSERT_TRUE(total) << total.error().message();
  EXPECT_EQ(total->ns, test::total_ns(after));
  EXPECT_EQ(total->before_ns, test::total_ns(before));
  EXPECT_THAT(total->origin, HasSubstr("compared with"));
}

// The parser's own words repeat bytes of the answer, and offcpuctl prints them.
TEST(StacksTotal, ARefusalHoldsNothingThatATerminalObeys) {
  for (const char* const json : {"\"\xff", "\"\x9b\x9b", "[\x1b[2J"}) {
    const auto total = stacks_total(json);
    ASSERT_FALSE(total);
    EXPECT_EQ(printable(total.error().message()), total.error().message());
  }
}

TEST(StacksTotal, RefusesWhatIsNoAnswerAboutStacks) {
  for (const char* const json :
       {"", "{", "[]", "{}", R"({"columns":[],"rows":[[1]],"begin":"","end":"","snapshots":1})",
        R"({"columns":["ns"],"rows":[["1"]],"begin":"","end":"","snapshots":1})",
        R"({"columns":["ns"],"rows":[[1e30]],"begin":"","end":"","snapshots":1})",
        R"({"columns":["ns"],"rows":[[1.5]],"begin":"","end":"","snapshots":1})",
        R"({"columns":["ns"],"rows":[[-1]],"begin":"","end":"","snapshots":1})",
        R"({"columns":["ns"],"rows":[[]],"begin":"","end":"","snapshots":1})",
        R"({"columns":["ns"],"rows":[[1]],"end":"","snapshots":1})"}) {
    const auto total = stacks_total(json);
    ASSERT_FALSE(total) << json;
    EXPECT_THAT(total.error().message(), HasSubstr("not an answer of offcpud about stacks"));
  }
}

}  // namespace
}  // namespace offcpud
