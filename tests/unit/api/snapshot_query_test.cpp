// SPDX-License-Identifier: Apache-2.0
#include "api/snapshot_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/times.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kNow;
using ::testing::HasSubstr;
using Path = SnapshotQuery::Path;
using Parameters = std::multimap<std::string, std::string>;

SnapshotQuery parsed_snapshots(Path path, const Parameters& parameters) {
  const auto query = SnapshotQuery::parse(path, parameters, kNow);
  EXPECT_TRUE(query) << query.error().message();
  return query ? *query : SnapshotQuery{};
}

std::string snapshots_refusal(Path path, const Parameters& parameters) {
  const auto query = SnapshotQuery::parse(path, parameters, kNow);
  EXPECT_FALSE(query);
  return query ? "" : query.error().message();
}

TEST(SnapshotQuery, WithoutParametersAListIsWholeAndTheOthersAreTheLastTenMinutes) {
  EXPECT_EQ(parsed_snapshots(Path::List, {}).range.from, WallTime::min());
  EXPECT_EQ(parsed_snapshots(Path::Merge, {}).range.from, kNow - 10min);
  EXPECT_EQ(parsed_snapshots(Path::Merge, {}).range.to, WallTime::max());
  EXPECT_EQ(parsed_snapshots(Path::Merge, {}).filter, SnapshotFilter{});
  EXPECT_EQ(parsed_snapshots(Path::Profile, {}).length, 30s);
}

TEST(SnapshotQuery, ReadsEveryParameter) {
  const SnapshotQuery query = parsed_snapshots(Path::Difference, {{"from", "-1h"},
                                                                  {"to", "now"},
                                                                  {"base_from", "-1d"},
                                                                  {"base_to", "-23h"},
                                                                  {"cgroup", "/a"},
                                                                  {"comm", "b"},
                                                                  {"pid", "12"},
                                                                  {"reason", "disk,lock"},
                                                                  {"for", "lock,unknown"},
                                                                  {"site", "futex"},
                                                                  {"frame", "c"},
                                                                  {"threads", "user"},
                                                                  {"frames", "kernel"},
                                                                  {"format", "folded"},
                                                                  {"annotate", "false"},
                                                                  {"normalize", "true"}});
  EXPECT_EQ(query.range.from, kNow - 1h);
  EXPECT_EQ(query.range.to, kNow);
  EXPECT_EQ(query.base.from, kNow - 24h);
  EXPECT_EQ(query.base.to, kNow - 23h);
  EXPECT_EQ(query.filter.cgroup.text(), "/a");
  EXPECT_EQ(query.filter.comm, "b");
  EXPECT_EQ(query.filter.pid, 12U);
  EXPECT_EQ(query.filter.frame, "c");
  EXPECT_EQ(query.filter.reasons.count(), 2U);
  EXPECT_TRUE(query.filter.reasons.test(OFFCPUD_BLOCKED_DISK));
  EXPECT_TRUE(query.filter.reasons.test(OFFCPUD_BLOCKED_LOCK));
  EXPECT_EQ(query.filter.wait_for.count(), 2U);
  EXPECT_TRUE(query.filter.wait_for.test(static_cast<std::size_t>(WaitFor::Lock)));
  EXPECT_TRUE(query.filter.wait_for.test(static_cast<std::size_t>(WaitFor::Unknown)));
  EXPECT_EQ(query.filter.site, "futex");
  EXPECT_EQ(query.filter.threads, SnapshotFilter::Threads::User);
  EXPECT_EQ(query.filter.frames, SnapshotFilter::Frames::Kernel);
  EXPECT_EQ(query.format, SnapshotFormat::Folded);
  EXPECT_FALSE(query.annotate_kernel);
  EXPECT_EQ(query.normalize, Normalize::ToLater);
  EXPECT_EQ(parsed_snapshots(Path::Merge, {{"sequence", "5"}}).range.sequence, 5U);
  EXPECT_EQ(parsed_snapshots(Path::Profile, {{"seconds", "300"}, {"comm", "x"}}).length, 300s);
  EXPECT_EQ(parsed_snapshots(Path::Profile, {}).format, SnapshotFormat::Pprof);
  const SnapshotQuery captured = parsed_snapshots(Path::Profile, {{"pid", "7"},
                                                                  {"tid", "8"},
                                                                  {"min_us", "5"},
                                                                  {"max_us", "9000"},
                                                                  {"state", "3"},
                                                                  {"threads", "user"},
                                                                  {"format", "folded"}});
  EXPECT_EQ(captured.capture.pid, 7U);
  EXPECT_EQ(captured.capture.tid, 8U);
  EXPECT_EQ(captured.capture.min_ns, 5'000U);
  EXPECT_EQ(captured.capture.max_ns, 9'000'000U);
  EXPECT_EQ(captured.capture.task_state, 3U);
  EXPECT_TRUE(captured.capture.user_threads);
  EXPECT_FALSE(captured.capture.kernel_threads);
  EXPECT_EQ(captured.format, SnapshotFormat::Folded);
}

// What a block was for is known only once its stack is: a lock may be waited for in poll.
TEST(SnapshotQuery, AProfileWithoutIdleBlocksSamplesAllReasons) {
  const SnapshotQuery busy = parsed_snapshots(Path::Profile, {{"idle", "false"}});
  EXPECT_FALSE(busy.filter.idle);
  EXPECT_EQ(busy.capture.kinds, BlockFilter::kAllKinds);
  const SnapshotQuery polls =
      parsed_snapshots(Path::Profile, {{"idle", "false"}, {"reason", "poll"}});
  EXPECT_EQ(polls.capture.kinds, 1U << OFFCPUD_BLOCKED_POLL);
}

TEST(SnapshotQuery, SaysWhatIsAllowed) {
  const struct {
    Path path;
    Parameters parameters;
    const char* sentence;
  } cases[] = {
      {Path::Merge, {{"from", "monday"}}, "parameter from: \"monday\" is not allowed; use 2026-"},
      {Path::Merge, {{"format", "svg"}}, "use one of json, folded, offwake, pprof"},
      {Path::Merge, {{"reason", "disk,"}}, "use some of disk, lock, condvar, network"},
      {Path::Merge, {{"reason", "wakeup"}}, "\"wakeup\" is not allowed"},
      {Path::Merge,
       {{"for", "idle"}},
       "parameter for: \"idle\" is not allowed; use some of lock, answer, storage, memory, "
       "stopped, work, timer, unknown, separated by commas"},
      {Path::Profile, {{"for", "lock,"}}, "use some of lock, answer"},
      {Path::List, {{"site", ""}}, "use a text that is not empty"},
      {Path::Merge, {{"pid", "-1"}}, "use a whole number such as 1234"},
      {Path::Merge, {{"pid", "5000000000"}}, "use a whole number such as 1234"},
      {Path::Merge, {{"comm", ""}}, "use a text that is not empty"},
      {Path::Merge, {{"frames", "both"}}, "use one of all, user, kernel"},
      {Path::Merge, {{"comm", "a"}, {"comm", "b"}}, "\"comm\" is given twice"},
      {Path::Merge, {{"from", "now"}, {"to", "-1h"}}, "from is not before to"},
      {Path::Merge,
       {{"base_from", "-1h"}},
       "unknown parameter \"base_from\"; use from, to, cgroup"},
      {Path::List, {{"format", "json"}}, "unknown parameter \"format\""},
      {Path::List, {{"by", "site"}}, "parameter by: \"site\" is not allowed; use for"},
      {Path::Merge, {{"by", "for"}}, "unknown parameter \"by\""},
      {Path::Difference, {}, "parameter base_from is missing; use 2026-"},
      {Path::Difference,
       {{"base_from", "now"}, {"base_to", "-1h"}},
       "base_from is not before base_to"},
      {Path::Difference, {{"base_from", "-1h"}, {"normalize", "1"}}, "use one of true, false"},
      {Path::Profile, {{"state", "0"}}, "offcpud_runqueue_wait_seconds"},
      {Path::Profile, {{"min_us", "2"}, {"max_us", "1"}}, "min_us is larger than max_us"},
      {Path::Merge, {{"tid", "1"}}, "unknown parameter \"tid\""},
      {Path::Profile, {{"seconds", "0"}}, "whole number of seconds from 1 to 300"},
      {Path::Profile, {{"seconds", "301"}}, "whole number of seconds from 1 to 300"},
      {Path::Profile, {{"seconds", "1.5"}}, "whole number of seconds from 1 to 300"},
      {Path::Profile, {{"from", "-1h"}}, "unknown parameter \"from\""}};
  for (const auto& each : cases) {
    EXPECT_THAT(snapshots_refusal(each.path, each.parameters), HasSubstr(each.sentence));
  }
}

}  // namespace
}  // namespace offcpud
