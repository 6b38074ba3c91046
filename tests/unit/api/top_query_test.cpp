// SPDX-License-Identifier: Apache-2.0
#include "api/top_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace offcpud {
namespace {

using ::testing::HasSubstr;
using Parameters = std::multimap<std::string, std::string>;

TopQuery parsed_top(const Parameters& parameters) {
  auto query = TopQuery::parse(parameters);
  if (!query) ADD_FAILURE() << query.error().message();
  return query ? *query : TopQuery{};
}

std::string top_refusal(const Parameters& parameters) {
  const auto query = TopQuery::parse(parameters);
  return query ? "taken" : query.error().message();
}

TEST(TopQuery, WithoutParametersEverythingByWait) {
  const TopQuery query = parsed_top({});
  EXPECT_EQ(query.sort, TopSort::Waiting);
  EXPECT_FALSE(query.threads || query.limit || query.pid || query.reverse);
  EXPECT_TRUE(query.admits(1, "a", "a", "/x"));
}

TEST(TopQuery, TakesEveryParameter) {
  const TopQuery query = parsed_top({{"pid", "7"},
                                     {"comm", "ngi"},
                                     {"cgroup", "/system.slice"},
                                     {"filter", "x"},
                                     {"threads", "true"},
                                     {"cpu", "3"},
                                     {"pinned", "true"},
                                     {"sort", "kept_off"},
                                     {"reverse", "true"},
                                     {"limit", "0"}});
  EXPECT_EQ(query.pid, 7U);
  EXPECT_EQ(query.cpu, 3U);
  EXPECT_EQ(query.limit, 0U);
  EXPECT_EQ(query.sort, TopSort::KeptOff);
  EXPECT_TRUE(query.threads && query.pinned && query.reverse);
}

TEST(TopQuery, FiltersByPartsOfNames) {
  EXPECT_TRUE(parsed_top({{"comm", "gin"}}).admits(1, "nginx", "nginx", "/"));
  EXPECT_TRUE(parsed_top({{"comm", "gin"}}).admits(1, "worker", "nginx", "/"));
  EXPECT_FALSE(parsed_top({{"comm", "gin"}}).admits(1, "worker", "httpd", "/gin"));
  EXPECT_TRUE(parsed_top({{"filter", "slice"}}).admits(1, "a", "a", "/system.slice"));
  EXPECT_TRUE(parsed_top({{"filter", "slice"}}).admits(1, "slicer", "a", "/"));
  EXPECT_FALSE(parsed_top({{"pid", "2"}}).admits(1, "a", "a", "/"));
}

TEST(TopQuery, ACgroupIsAPathOrAUnitAndWhatIsBelow) {
  const auto admits = [](const char* cgroup, const char* path) {
    return parsed_top({{"cgroup", cgroup}}).admits(1, "a", "a", path);
  };
  EXPECT_TRUE(admits("/system.slice", "/system.slice/a.service"));
  EXPECT_FALSE(admits("/sys", "/system.slice")) << "a path, not a text";
  EXPECT_TRUE(admits("a.service", "/system.slice/a.service"));
  EXPECT_FALSE(admits("a.service", "/system.slice/aa.service"));
  EXPECT_EQ(top_refusal({{"cgroup", "system.slice/a.service"}}),
            "parameter cgroup: \"system.slice/a.service\" is not allowed; use a path such as "
            "/system.slice, or a unit such as nginx.service");
}

TEST(TopQuery, RefusalsSayWhatIsAllowed) {
  EXPECT_EQ(top_refusal({{"por", "1"}}),
            "unknown parameter \"por\"; use pid, comm, cgroup, filter, for, threads, cpu, pinned, "
            "reverse, limit or sort");
  for (const char* number : {"", "-1", "x", "1x", "4294967296", " 1", "1.5"}) {
    EXPECT_THAT(top_refusal({{"pid", number}}), HasSubstr("use a whole number")) << number;
  }
  EXPECT_EQ(top_refusal({{"threads", "1"}}),
            "parameter threads: \"1\" is not allowed; use true or false");
  EXPECT_EQ(top_refusal({{"sort", "size"}}),
            "parameter sort: \"size\" is not allowed; use waiting, unknown, idle, actionable, "
            "blocked, runqueue, running, "
            "oldest, ended, p50, p99, max, threads, pid, comm");
  EXPECT_THAT(top_refusal({{"sort", "p99"}, {"threads", "true"}}),
              HasSubstr("kept_off, longest, tid, cpu, pid, comm (of threads)"));
  EXPECT_THAT(top_refusal({{"cpu", "1"}}), HasSubstr("add threads=true"));
  EXPECT_THAT(top_refusal({{"comm", ""}}), HasSubstr("not empty"));
  EXPECT_THAT(top_refusal({{"pid", "1"}, {"pid", "2"}}), HasSubstr("given twice"));
}

}  // namespace
}  // namespace offcpud
