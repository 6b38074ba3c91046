// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <random>

#include "kept_off.h"
#include "pipeline/taker.h"
#include "support/thread_record.h"
#include "support/times.h"
#include "unit/pipeline/pipeline_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::kMs;
using test::kSecond;

TEST_F(PipelineTest, NamesWhatExistsAtTheStart) {
  kernel_.charge(tree_.inode("system.slice/nginx.service"), kSleep, 1000, 2);
  const auto view = pass();
  ASSERT_TRUE(view);
  const SubjectSeries* nginx = find(**view, "/system.slice/nginx.service");
  ASSERT_TRUE(nginx);
  EXPECT_EQ(nginx->labels->unit, "nginx.service");
  EXPECT_EQ(nginx->labels->slice, "system.slice");
  EXPECT_EQ((*view)->histogram_series, 1U);
}

TEST_F(PipelineTest, ACgroupThatLivedBetweenTwoPassesHasItsName) {
  create(kShortLived, "system.slice", "run-1.scope");
  kernel_.charge(kShortLived, kSleep, 1000);
  remove(kShortLived);
  EXPECT_EQ(count(**pass(), "/system.slice/run-1.scope"), 1U);
}

TEST_F(PipelineTest, RemovedCgroupLingersThenFoldsIntoItsAncestor) {
  create(kShortLived, "system.slice", "run-1.scope");
  kernel_.charge(kShortLived, kSleep, 1000, 5);
  remove(kShortLived);
  EXPECT_EQ(count(**pass(), "/system.slice/run-1.scope"), 5U);

  clock_.advance(11s);  // the kernel's place is given back, the series stays
  EXPECT_EQ(count(**pass(), "/system.slice/run-1.scope"), 5U);
  EXPECT_EQ(kernel_.closed(), std::vector<std::uint64_t>{kShortLived});

  clock_.advance(60s);
  const auto view = pass();
  EXPECT_FALSE(find(**view, "/system.slice/run-1.scope"));
  EXPECT_EQ(count(**view, "/system.slice/(removed)"), 5U);
}

TEST_F(PipelineTest, RestartedUnitKeepsOneSeriesForEver) {
  const std::uint64_t second = kShortLived + 1;
  create(kShortLived, "system.slice", "web.service");
  kernel_.charge(kShortLived, kSleep, 1000, 5);
  std::ignore = pass();
  remove(kShortLived);
  create(second, "system.slice", "web.service");
  kernel_.charge(second, kSleep, 1000, 1);
  EXPECT_EQ(count(**pass(), "/system.slice/web.service"), 6U);
  clock_.advance(300s);
  EXPECT_EQ(count(**pass(), "/system.slice/web.service"), 6U);
  EXPECT_EQ(count(**pass(), "/system.slice/(removed)"), 0U);
}

// What the first pass finds was counted since the programs were attached; what a later one finds,
// since the pass before it.
TEST_F(PipelineTest, ASeriesBeganBeforeItsFirstEpisodeAndKeepsItsBeginning) {
  const WallTime attached = clock_.wall() - 3s;
  pipeline_.set_counting_since(attached);
  kernel_.charge(tree_.inode("system.slice/nginx.service"), kSleep, 1000);
  const WallTime first = clock_.wall();
  std::ignore = pass();
  clock_.advance(10s);
  kernel_.charge(tree_.inode("user.slice"), kSleep, 1000);
  kernel_.charge(tree_.inode("system.slice/nginx.service"), kSleep, 1000);
  std::ignore = pass();
  clock_.advance(10s);
  const auto view = pass();
  EXPECT_EQ(find(**view, "/system.slice/nginx.service")->started[kSleep], attached);
  EXPECT_EQ((*view)->counting_since, attached);
  EXPECT_EQ(find(**view, "/user.slice")->started[kSleep], first);
  EXPECT_EQ(find(**view, "/user.slice")->started[OFFCPUD_BLOCKED_DISK], WallTime{});
}

// They hold episodes from before they were there: with a later beginning Prometheus would see all
// of them happen at once.
TEST_F(PipelineTest, SeriesThatTakeOverOthersCountSinceTheStart) {
  const WallTime attached = clock_.wall() - 3s;
  pipeline_.set_counting_since(attached);
  std::ignore = pass();
  clock_.advance(10s);
  create(kShortLived, "system.slice", "run-1.scope");
  kernel_.charge(kShortLived, kSleep, 1000, 5);
  remove(kShortLived);
  std::ignore = pass();
  clock_.advance(61s);
  std::ignore = pass();
  auto options = options_;
  options.max_series = 1;  // "(removed)" is the one
  pipeline_.set_options(options);
  kernel_.charge(tree_.inode("user.slice"), kSleep, 1000, 2);
  const auto view = pass();
  ASSERT_EQ(count(**view, "/system.slice/(removed)"), 5U);
  EXPECT_EQ(find(**view, "/system.slice/(removed)")->started[kSleep], attached);
  ASSERT_EQ(count(**view, "(other)"), 2U);
  EXPECT_EQ(find(**view, "(other)")->started[kSleep], attached);
}

TEST_F(PipelineTest, ExemplarsShowInTheNextView) {
  kernel_.charge(tree_.inode("user.slice"), kSleep, 1000);
  const auto before = pass();
  pipeline_.add_exemplars(
      {{.cgroup = "/user.slice",
        .process_start_ns = 1,
        .kind = kSleep,
        .exemplar = {.duration_ns = 1000, .ended = clock_.wall(), .stack = 9}}});
  const auto after = pass();
  EXPECT_EQ(find(**before, "/user.slice")->exemplars, nullptr);
  ASSERT_NE(find(**after, "/user.slice")->exemplars, nullptr);
  EXPECT_EQ((*find(**after, "/user.slice")->exemplars)[kSleep].at(0).stack, 9U);
}

TEST_F(PipelineTest, ExemplarsOfAProcessAreThoseOfItsPidAndStart) {
  auto options = options_;
  options.processes.is_chosen = [](const ProcessRow&) { return true; };
  pipeline_.set_options(options);
  offcpud_thread thread =
      blocked_thread(tree_.inode("user.slice"), OFFCPUD_BLOCKED_DISK, 11'000'000'000);
  thread.tid = thread.tgid = thread.local_tid = thread.local_tgid = 7;
  kernel_.set_walk(walk_of({thread}));
  const auto add = [&](std::uint64_t process_start_ns, std::uint64_t stack) {
    pipeline_.add_exemplars({{.cgroup = "/user.slice",
                              .process_start_ns = process_start_ns,
                              .kind = kSleep,
                              .exemplar = {.duration_ns = 1000,
                                           .ended = clock_.wall(),
                                           .pid = thread.local_tgid,
                                           .stack = stack}}});
  };
  add(thread.process_start_ns + 1, 8);  // another life of the same pid
  EXPECT_EQ((*pass())->processes.at(0).exemplars, nullptr);
  add(thread.process_start_ns, 9);
  const auto view = pass();
  ASSERT_NE((*view)->processes.at(0).exemplars, nullptr);
  EXPECT_EQ((*(*view)->processes[0].exemplars)[kSleep].at(0).stack, 9U);
}

TEST_F(PipelineTest, ExemplarsEndWhenNoMoreSnapshotsCome) {
  kernel_.charge(tree_.inode("user.slice"), kSleep, 1000);
  pipeline_.add_exemplars(
      {{.cgroup = "/user.slice",
        .process_start_ns = 1,
        .kind = kSleep,
        .exemplar = {.duration_ns = 1000, .ended = clock_.wall(), .stack = 9}}});
  EXPECT_NE(find(**pass(), "/user.slice")->exemplars, nullptr);
  clock_.advance(ExemplarBook::kKeptFor + 1s);
  EXPECT_EQ(find(**pass(), "/user.slice")->exemplars, nullptr);
}

TEST_F(PipelineTest, ARestartBetweenTwoPassesStartsTheLingerAnew) {
  create(kShortLived, "system.slice", "job.service");
  kernel_.charge(kShortLived, kSleep, 1000, 5);
  remove(kShortLived);
  std::ignore = pass();
  clock_.advance(61s);
  create(kShortLived + 1, "system.slice", "job.service");
  kernel_.charge(kShortLived + 1, kSleep, 1000, 1);
  remove(kShortLived + 1);
  EXPECT_EQ(count(**pass(), "/system.slice/job.service"), 6U);
  clock_.advance(61s);
  EXPECT_EQ(count(**pass(), "/system.slice/(removed)"), 6U);
}

TEST_F(PipelineTest, RemovedBelowARemovedAncestorMovesUp) {
  create(kShortLived, "user.slice", "a");
  pipeline_.apply({CgroupChange::Kind::Created, kShortLived + 1, kShortLived, "b"});
  kernel_.charge(kShortLived + 1, kSleep, 1000, 5);
  remove(kShortLived + 1);
  std::ignore = pass();
  clock_.advance(61s);
  EXPECT_EQ(count(**pass(), "/user.slice/a/(removed)"), 5U);
  remove(kShortLived);
  std::ignore = pass();
  clock_.advance(61s);
  EXPECT_EQ(count(**pass(), "/user.slice/(removed)"), 5U);
}

TEST_F(PipelineTest, UnnamedCgroupsShareOneSeriesUntilAWalkFindsThem) {
  kernel_.charge(kShortLived, kSleep, 1000);
  kernel_.charge(kShortLived + 1, kSleep, 1000);
  EXPECT_EQ(count(**pass(), "(unknown)"), 2U);

  tree_.put({{"late.slice/"}});  // no event told of it
  const std::uint64_t late = tree_.inode("late.slice");
  kernel_.charge(late, kSleep, 1000);
  EXPECT_EQ(count(**pass(), "/late.slice"), 1U);
}

TEST_F(PipelineTest, ARemovalThatNoEventToldIsFoundByAWalk) {
  tree_.put({{"gone.slice/"}});
  const std::uint64_t gone = tree_.inode("gone.slice");
  kernel_.charge(gone, kSleep, 1000, 3);
  EXPECT_EQ(count(**pass(), "/gone.slice"), 3U);
  tree_.remove_directory("gone.slice");
  kernel_.miss_cgroup_changes();
  for (int walk = 0; walk < 2; ++walk) {  // the second one believes it
    clock_.advance(10s);
    std::ignore = pass();
  }
  clock_.advance(61s);
  std::ignore = pass();
  EXPECT_EQ(count(**pass(), "/(removed)"), 3U);
  EXPECT_EQ(kernel_.closed(), std::vector<std::uint64_t>{gone});
}

// Deep nesting, another cgroup namespace, or a lost event of a cgroup that is gone: names that
// never come must not hold the kernel's places for ever.
TEST_F(PipelineTest, APlaceWithoutANameIsClosedOnceItIsIdle) {
  kernel_.charge(kShortLived, kSleep, 1000, 3);
  kernel_.charge(kShortLived + 1, kSleep, 1000, 1);
  std::ignore = pass();
  clock_.advance(20s);
  kernel_.charge(kShortLived + 1, kSleep, 1000, 1);
  std::ignore = pass();
  clock_.advance(20s);
  std::ignore = pass();
  EXPECT_EQ(kernel_.closed(), std::vector<std::uint64_t>{kShortLived});
  kernel_.charge(kShortLived, kSleep, 1000, 2);  // it was alive
  EXPECT_EQ(count(**pass(), "(unknown)"), 7U);
}

TEST_F(PipelineTest, ALiveCgroupNamedLikeARemovedOneIsLeftAlone) {
  create(kShortLived, "user.slice", "x(removed)");
  create(kShortLived + 1, "user.slice", "(removed)");
  kernel_.charge(kShortLived, kSleep, 1000, 3);
  kernel_.charge(kShortLived + 1, kSleep, 1000, 2);
  for (int i = 0; i < 5; ++i) {
    std::ignore = pass();
    clock_.advance(60s);
  }
  const auto view = pass();
  EXPECT_EQ(count(**view, "/user.slice/x(removed)"), 3U);
  EXPECT_EQ(count(**view, "/user.slice/(removed)"), 2U);
}

TEST_F(PipelineTest, AFailedWalkLosesNoLastReading) {
  create(kShortLived, "user.slice", "a");
  kernel_.charge(kShortLived, kSleep, 1000, 3);
  std::ignore = pass();
  kernel_.charge(kShortLived, kSleep, 1000, 1);
  kernel_.close(std::array<std::uint64_t, 1>{kShortLived});
  std::filesystem::rename(tree_.root(), tree_.root().native() + ".away");
  kernel_.miss_cgroup_changes();
  clock_.advance(10s);
  EXPECT_FALSE(pass());
  std::filesystem::rename(tree_.root().native() + ".away", tree_.root());
  EXPECT_EQ(count(**pass(), "/user.slice/a"), 4U);
}

TEST_F(PipelineTest, AFailedReadLeavesTheSeriesAsTheyWere) {
  const std::uint64_t nginx = tree_.inode("system.slice/nginx.service");
  kernel_.charge(nginx, kSleep, 1000, 2);
  std::ignore = pass();
  kernel_.fail_next_read(Error("map vanished"));
  EXPECT_FALSE(pass());
  kernel_.charge(nginx, kSleep, 1000, 1);
  EXPECT_EQ(count(**pass(), "/system.slice/nginx.service"), 3U);
}

TEST_F(PipelineTest, BeforeTheFirstWalkNothingIsSaidOfWaitsInProgress) {
  kernel_.charge(tree_.inode("user.slice"), kSleep, 1000);
  const auto view = pass();
  EXPECT_EQ(find(**view, "/user.slice")->in_progress, nullptr);
  EXPECT_EQ((*view)->walk, nullptr);
  EXPECT_EQ((*view)->running_deviation_ratio, std::nullopt);
}

TEST_F(PipelineTest, AThreadAsleepSinceBeforeTheDaemonShowsInARowOfItsOwn) {
  const std::uint64_t nginx = tree_.inode("system.slice/nginx.service");
  offcpud_thread thread = blocked_thread(nginx, OFFCPUD_BLOCKED_DISK, 11 * kSecond);
  thread.flags = OFFCPUD_THREAD_ESTIMATED;
  kernel_.set_walk(walk_of({thread}));
  const auto view = pass();
  const SubjectSeries* row = find(**view, "/system.slice/nginx.service");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->running_ns, 0U);
  EXPECT_FALSE(row->histograms[OFFCPUD_BLOCKED_DISK]) << "no histogram will count it";
  const BlocksInProgress& disk = row->in_progress->blocked[OFFCPUD_BLOCKED_DISK];
  EXPECT_EQ(disk.threads, 1U);
  EXPECT_EQ(disk.oldest.ns, 11 * kSecond);
  EXPECT_EQ(disk.stalled[1], 1U);
  EXPECT_EQ((*view)->stall_bounds.size(), 3U);

  kernel_.set_walk(walk_of({}));  // it ended
  EXPECT_FALSE(find(**pass(), "/system.slice/nginx.service"));
}

TEST_F(PipelineTest, ACgroupThatOnlySleepsIsNamedByAWalk) {
  tree_.put({{"late.slice/"}});  // no event told of it, and nothing is ever charged to it
  const std::uint64_t late = tree_.inode("late.slice");
  kernel_.set_walk(walk_of({blocked_thread(late, OFFCPUD_BLOCKED_POLL, kSecond),
                            blocked_thread(kShortLived, OFFCPUD_BLOCKED_POLL, kSecond)}));
  const auto view = pass();
  EXPECT_TRUE(find(**view, "/late.slice"));
  EXPECT_TRUE(find(**view, "(unknown)"));
}

TEST_F(PipelineTest, TheUnaccountedRatioIsThatOfTheTimeBetweenTwoWalks) {
  const std::uint64_t nginx = tree_.inode("system.slice/nginx.service");
  const auto ratio = [&](const View& view) {
    return find(view, "/system.slice/nginx.service")->in_progress->unaccounted_ratio;
  };
  offcpud_thread thread = blocked_thread(nginx, OFFCPUD_BLOCKED_DISK, kSecond);
  kernel_.set_walk(walk_of({thread}));
  EXPECT_EQ(ratio(**pass()), std::nullopt);

  // 9 s pass: its block of 6 s in all ends, 2 s get lost, and the next block is 2 s old.
  kernel_.charge(nginx, OFFCPUD_BLOCKED_DISK, 6 * kSecond);
  EXPECT_EQ(ratio(**pass()), std::nullopt);  // still the same walk
  thread.since_ns = thread.now_ns - 2 * kSecond;
  thread.unaccounted_ns = 2 * kSecond;
  const auto second = walk_of({thread});
  kernel_.set_walk(second);
  const auto view = pass();
  EXPECT_DOUBLE_EQ(ratio(**view).value(), 2.0 / 9);
  EXPECT_EQ((*view)->walk, second);
  EXPECT_NE((*view)->previous_walk, nullptr);
  kernel_.run(nginx, 5);
  EXPECT_DOUBLE_EQ(ratio(**pass()).value(), 2.0 / 9);  // until the next walk
}

TEST_F(PipelineTest, NamesWhoKeptACgroupOffTheCpu) {
  const std::uint64_t nginx = tree_.inode("system.slice/nginx.service");
  const std::uint64_t users = tree_.inode("user.slice");
  kernel_.run(nginx, 1);
  kernel_.run(users, 1);
  kernel_.keep_off(nginx, users, 5 * kMs);
  kernel_.keep_off(nginx, OFFCPUD_TAKEN_BY_SAME, 4 * kMs);
  kernel_.keep_off(nginx, OFFCPUD_TAKEN_BY_KERNEL, 3 * kMs);
  kernel_.keep_off(nginx, OFFCPUD_TAKEN_BY_IDLE, 2 * kMs);
  kernel_.keep_off(nginx, OFFCPUD_TAKEN_BY_OTHER, 6 * kMs);
  kernel_.keep_off(nginx, OFFCPUD_TAKEN_BY_UNKNOWN, 7 * kMs);
  kernel_.keep_off(nginx, 0, kMs);  // a cgroup without a place
  const auto view = pass();
  ASSERT_TRUE(view);
  const SubjectSeries* row = find(**view, "/system.slice/nginx.service");
  ASSERT_TRUE(row && row->kept_off);
  std::map<std::string, std::uint64_t> takers;
  for (const Taker& taker : row->kept_off->takers) takers[taker.by->cgroup] = taker.ns / kMs;
  const std::map<std::string, std::uint64_t> expected = {
      {"(idle)", 2},    {"(kernel)", 3},    {"(other)", 7},
      {"(unknown)", 7}, {"/user.slice", 5}, {"/system.slice/nginx.service", 4}};
  EXPECT_EQ(takers, expected);
  const SubjectSeries* taker = find(**view, "/user.slice");
  ASSERT_TRUE(taker);
  EXPECT_EQ(taker->kept_off, nullptr) << "nobody kept that one off";
}

TEST_F(PipelineTest, WhoKeptItOffOutlivesBoth) {
  create(kShortLived, "system.slice", "hog.scope");
  create(kShortLived + 1, "system.slice", "victim.scope");
  kernel_.run(kShortLived, 1);
  kernel_.run(kShortLived + 1, 1);
  kernel_.keep_off(kShortLived + 1, kShortLived, 5'000'000);
  ASSERT_TRUE(pass());
  remove(kShortLived);
  ASSERT_TRUE(pass());
  clock_.advance(61s);
  auto view = pass();
  ASSERT_TRUE(view);
  const SubjectSeries* victim = find(**view, "/system.slice/victim.scope");
  ASSERT_TRUE(victim && victim->kept_off);
  ASSERT_EQ(victim->kept_off->takers.size(), 1U);
  EXPECT_EQ(victim->kept_off->takers[0].by->cgroup, "(removed)");
  remove(kShortLived + 1);
  ASSERT_TRUE(pass());
  clock_.advance(61s);
  view = pass();
  ASSERT_TRUE(view);
  EXPECT_EQ(find(**view, "/system.slice/victim.scope"), nullptr);
  const SubjectSeries* removed = find(**view, "/system.slice/(removed)");
  ASSERT_TRUE(removed && removed->kept_off);
  ASSERT_EQ(removed->kept_off->takers.size(), 1U);
  EXPECT_EQ(removed->kept_off->takers[0].ns, 5'000'000U);
}

// The invariants that hang on nothing: totals never fall, nothing is counted twice or lost, and no
// series that stays goes down, while cgroups churn far beyond the limit on series.
TEST_F(PipelineTest, TotalsHoldUnderChurn) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same course in every run
  std::uint64_t charged = 0;
  std::uint64_t next = kShortLived;
  std::vector<std::uint64_t> live;
  std::map<std::string, std::uint64_t> last;
  for (int step = 0; step < 400; ++step) {
    for (int i = 0; i < 3; ++i) {
      create(next, "user.slice", "churn-" + std::to_string(next % 150));
      live.push_back(next++);
    }
    for (const std::uint64_t id : live) {
      kernel_.charge(id, kSleep, 1 + random() % 1'000'000);
      ++charged;
    }
    std::shuffle(live.begin(), live.end(), random);
    while (live.size() > 20) {
      remove(live.back());
      live.pop_back();
    }
    clock_.advance(std::chrono::seconds(random() % 5));
    const auto view = pass();
    ASSERT_TRUE(view);
    ASSERT_EQ(total(**view), charged);
    ASSERT_LE((*view)->histogram_series, 100U + 1U);
    std::map<std::string, std::uint64_t> now;
    for (const SubjectSeries& series : (*view)->subjects) {
      const auto inserted =
          now.emplace(series.labels->cgroup, count(**view, series.labels->cgroup));
      ASSERT_TRUE(inserted.second) << "twice: " << series.labels->cgroup;
    }
    for (const auto& [path, value] : now) ASSERT_GE(value, last[path] * now.contains(path));
    last = std::move(now);
  }
}

}  // namespace
}  // namespace offcpud
