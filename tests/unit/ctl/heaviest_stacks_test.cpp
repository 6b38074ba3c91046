// SPDX-License-Identifier: Apache-2.0
#include "ctl/heaviest_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ctl/stack_query.h"

namespace offcpud {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNotIdle = "lock,answer,storage,memory,stopped,unknown";

TEST(HeaviestStacks, AskForWhatIsNotIdleInTheLastTenMinutes) {
  EXPECT_EQ(*query_of_stacks({}), (QueryParameters{{"from", "-10min"}, {"for", kNotIdle}}));
}

TEST(HeaviestStacks, AreOfTheSubjectOfTheAnswer) {
  EXPECT_EQ(*query_of_stacks({{"format", "text"}, {"cgroup", "nginx.service"}, {"limit", "3"}}),
            (QueryParameters{{"from", "-10min"}, {"cgroup", "nginx.service"}, {"for", kNotIdle}}));
  EXPECT_EQ(*query_of_stacks({{"window", "1min"}, {"pid", "7"}}),
            (QueryParameters{{"from", "-10min"}, {"pid", "7"}, {"for", kNotIdle}}));
}

TEST(HeaviestStacks, AreOfTheLaterRangeAndOfItsFilters) {
  EXPECT_EQ(
      *query_of_stacks({{"from", "-1h"},
                        {"to", "-10min"},
                        {"base_from", "-2h"},
                        {"for", "lock"},
                        {"site", "mutex"}}),
      (QueryParameters{{"from", "-1h"}, {"to", "-10min"}, {"for", "lock"}, {"site", "mutex"}}));
  EXPECT_EQ(*query_of_stacks({{"idle", "true"}}), (QueryParameters{{"from", "-10min"}}));
}

TEST(HeaviestStacks, WaitsForACpuHaveNone) {
  EXPECT_EQ(*query_of_stacks({{"for", "cpu,lock,throttled"}}),
            (QueryParameters{{"from", "-10min"}, {"for", "lock"}}));
  EXPECT_EQ(heaviest_stacks({}, "", {{"for", "cpu"}}), "\nstacks: waits for a CPU have none\n");
}

TEST(HeaviestStacks, ARangeWithAnEndAloneNeedsABegin) {
  EXPECT_EQ(heaviest_stacks({}, "", {{"to", "-1h"}}),
            "\nstacks: say with --from where the range begins\n");
}

TEST(HeaviestStacks, WhyThereAreNoneIsSaidInTheirPlace) {
  const std::string text =
      heaviest_stacks({{"", 0, "/nonexistent/http.sock"}}, "unix:/nonexistent/http.sock", {});
  EXPECT_THAT(text, HasSubstr("\nstacks: no offcpud answers at "));
}

}  // namespace
}  // namespace offcpud
