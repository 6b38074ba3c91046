// SPDX-License-Identifier: Apache-2.0
#include "api/changes_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kNow;
using ::testing::HasSubstr;

ChangesQuery parse(const Parameters& parameters) {
  auto query = ChangesQuery::parse(parameters, kNow);
  EXPECT_TRUE(query) << (query ? "" : query.error().message());
  return query ? *query : ChangesQuery();
}

std::string changes_refusal(const Parameters& parameters) {
  const auto query = ChangesQuery::parse(parameters, kNow);
  EXPECT_FALSE(query);
  return query ? "" : query.error().message();
}

TEST(ChangesQuery, ByDefaultTheLastTenMinutesAgainstTheHourBefore) {
  const ChangesQuery query = parse({});
  EXPECT_EQ(query.range.from, kNow - 10min);
  EXPECT_EQ(query.range.to, kNow);
  EXPECT_EQ(query.base.from, kNow - 70min);
  EXPECT_EQ(query.base.to, kNow - 10min);
  EXPECT_TRUE(query.by_default);
  EXPECT_FALSE(query.idle);
  EXPECT_TRUE(query.kinds.all());
}

TEST(ChangesQuery, TheEarlierRangeEndsWhereTheLaterOneBegins) {
  const ChangesQuery query = parse({{"from", "-2min"}, {"base_from", "-1h"}});
  EXPECT_EQ(query.base.from, kNow - 1h);
  EXPECT_EQ(query.base.to, kNow - 2min);
  EXPECT_FALSE(query.by_default);
  const ChangesQuery past = parse({{"to", "-1d"}});
  EXPECT_EQ(past.range.from, kNow - 24h - 10min);
  EXPECT_EQ(past.base.from, kNow - 24h - 70min);
  const ChangesQuery yesterday = parse({{"base_to", "-1d"}});
  EXPECT_EQ(yesterday.base.from, kNow - 25h);
  EXPECT_EQ(yesterday.range.from, kNow - 10min);
}

TEST(ChangesQuery, KindsAreWhatWaitsAreForAndTheCpu) {
  const ChangesQuery query = parse({{"for", "lock,cpu,throttled"}});
  EXPECT_EQ(query.kinds.count(), 3U);
  EXPECT_TRUE(query.kinds.test(static_cast<std::size_t>(WaitFor::Lock)));
  EXPECT_TRUE(query.kinds.test(kCpuWait));
  EXPECT_TRUE(query.kinds.test(kThrottledWait));
  EXPECT_FALSE(query.idle);
  EXPECT_TRUE(parse({{"for", "timer"}}).idle) << "who asks for idle waits wants to see them";
}

TEST(ChangesQuery, AUnitIsACgroup) {
  EXPECT_EQ(parse({{"unit", "nginx.service"}}).cgroup.text(), "nginx.service");
  EXPECT_EQ(parse({{"cgroup", "/system.slice"}}).cgroup.text(), "/system.slice");
  EXPECT_THAT(changes_refusal({{"unit", "a"}, {"cgroup", "b"}}), HasSubstr("mean the same"));
}

TEST(ChangesQuery, RefusesWhatCannotBeAnswered) {
  EXPECT_EQ(changes_refusal({{"from", "now"}}),
            "parameter from is not before to; use an earlier from");
  EXPECT_EQ(changes_refusal({{"base_from", "-1min"}}),
            "parameter base_from is not before base_to; use an earlier base_from");
  EXPECT_THAT(changes_refusal({{"for", "luck"}}), HasSubstr("some of lock, answer"));
  EXPECT_THAT(changes_refusal({{"format", "xml"}}), HasSubstr("use one of json, text"));
  EXPECT_THAT(changes_refusal({{"limit", "0"}}), HasSubstr("from 1 to 10000"));
  EXPECT_THAT(changes_refusal({{"base", "-1h"}}), HasSubstr("unknown parameter \"base\""));
}

TEST(ChangesQuery, ARangeMayBeginBefore1970) {
  const ChangesQuery query = parse({{"base_to", "1970-01-01T00:30:00Z"}});
  EXPECT_EQ(query.base.to, WallTime(30min));
  EXPECT_EQ(query.base.from, WallTime(-30min));
}

}  // namespace
}  // namespace offcpud
