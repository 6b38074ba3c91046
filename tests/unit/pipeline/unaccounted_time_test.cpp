// SPDX-License-Identifier: Apache-2.0
#include "pipeline/unaccounted_time.h"

#include <gtest/gtest.h>

#include <random>

#include "support/thread_record.h"

namespace offcpud {
namespace {

CgroupInProgress open(std::uint64_t in_progress_ns, std::int64_t unaccounted_ns) {
  CgroupInProgress cgroup;
  cgroup.open = {in_progress_ns, static_cast<std::uint64_t>(unaccounted_ns)};
  return cgroup;
}

AccountedTime counted(std::uint64_t accounted_ns, std::int64_t unaccounted_ns = 0) {
  return {accounted_ns, static_cast<std::uint64_t>(unaccounted_ns)};
}

std::optional<double> ratio(const UnaccountedTime& time, const std::string& path) {
  const auto found = time.ratios().find(path);
  return found == time.ratios().end() ? std::nullopt : std::optional(found->second);
}

TEST(UnaccountedTime, IsZeroWhileEverythingIsInACounterOrInProgress) {
  UnaccountedTime time;
  time.end_interval({{"/a", open(500, 0)}}, {});
  time.end_interval({{"/a", open(100, 0)}}, {{"/a", counted(1'400)}});
  EXPECT_EQ(ratio(time, "/a"), 0.0);
}

TEST(UnaccountedTime, IsTheShareOfTheLifetimeThatIsInNoCounter) {
  UnaccountedTime time;
  time.end_interval({{"/a", open(0, 50)}}, {});
  time.end_interval({{"/a", open(100, 150)}}, {{"/a", counted(700, 100)}});
  EXPECT_EQ(ratio(time, "/a"), 0.2);  // 100 of live threads and 100 of ended ones, of 1,000
}

TEST(UnaccountedTime, CountedTwiceIsNegative) {
  UnaccountedTime time;
  time.end_interval({{"/a", open(0, 0)}}, {});
  time.end_interval({{"/a", open(0, -250)}}, {{"/a", counted(1'250)}});
  EXPECT_EQ(ratio(time, "/a"), -0.25);
}

TEST(UnaccountedTime, NoPathHasARatioInItsFirstInterval) {
  UnaccountedTime time;
  time.end_interval({{"/a", open(1'000'000, 5)}}, {{"/a", counted(7)}});
  EXPECT_TRUE(time.ratios().empty());
  time.end_interval({{"/a", open(1'000'100, 5)}, {"/b", open(900, 900)}}, {});
  EXPECT_EQ(ratio(time, "/a"), 0.0);
  EXPECT_EQ(ratio(time, "/b"), std::nullopt);
}

TEST(UnaccountedTime, APathForWhichNoTimePassedHasNone) {
  UnaccountedTime time;
  time.end_interval({{"/a", open(1'000, 0)}, {"/b", open(10, 0)}}, {});
  // A thread of /a left with a wait in progress that will be charged elsewhere.
  time.end_interval({{"/a", open(100, 1)}, {"/b", open(10, 0)}}, {});
  EXPECT_TRUE(time.ratios().empty());
}

TEST(UnaccountedTime, ThreadsThatLivedBetweenTwoWalksOnlyAreChecked) {
  UnaccountedTime time;
  time.end_interval({}, {{"/forks", counted(10)}});
  time.end_interval({}, {{"/forks", counted(90, 10)}});
  EXPECT_EQ(ratio(time, "/forks"), 0.1);
  time.end_interval({}, {});
  EXPECT_TRUE(time.ratios().empty());
}

TEST(UnaccountedTime, StaysBetweenOneAndMinusOne) {
  UnaccountedTime time;
  time.end_interval({{"/a", open(0, 0)}, {"/b", open(900, 0)}}, {});
  time.end_interval({{"/a", open(0, -900)}, {"/b", open(0, 1'000)}}, {{"/a", counted(1'000)}});
  EXPECT_EQ(ratio(time, "/a"), -1.0);
  EXPECT_EQ(ratio(time, "/b"), 1.0);
}

TEST(UnaccountedTime, SumsMayPassTheEndOfTheirNumbers) {
  UnaccountedTime time;
  time.end_interval({{"/a", open(~0ULL - 10, 0)}}, {});
  time.end_interval({{"/a", open(489, 0)}}, {{"/a", counted(500)}});
  EXPECT_EQ(ratio(time, "/a"), 0.0);
}

// A model of threads that change state, are born and end, some of whose waits get lost: the ratio
// is what was lost by what they lived, whatever the course.
TEST(UnaccountedTime, IsWhatAModelOfThreadsLost) {
  struct Thread {
    std::uint64_t since;
    std::uint64_t lost;
  };
  std::mt19937_64 random(11);  // NOLINT(cert-msc51-cpp): the same course in every run
  std::vector<Thread> threads(20, {0, 0});
  UnaccountedTime time;
  const auto walk = [&](std::uint64_t now) {
    CgroupInProgress all;
    for (const Thread& thread : threads) {
      all.open.in_progress_ns += now - thread.since;
      all.open.unaccounted_ns += thread.lost;
    }
    return InProgressByPath{{"/m", all}};
  };
  std::uint64_t now = 1;
  time.end_interval(walk(now), {});
  for (int interval = 0; interval < 200; ++interval) {
    AccountedTime counted;
    std::uint64_t lived = 0;
    std::uint64_t lost = 0;
    for (int step = 0; step < 20; ++step) {
      const std::uint64_t passed = 1 + random() % 1'000'000;
      now += passed;
      lived += passed * threads.size();
      for (std::size_t i = 0; i < threads.size(); ++i) {
        Thread& thread = threads[i];
        if (random() % 3 == 0) continue;  // stays in its state
        const std::uint64_t duration = now - std::exchange(thread.since, now);
        const bool is_lost = random() % 10 == 0;
        (is_lost ? thread.lost : counted.accounted_ns) += duration;
        lost += is_lost ? duration : 0;
        if (random() % 5 != 0) continue;
        counted.unaccounted_ns += thread.lost;  // ends, and another one is born
        thread = {now, 0};
      }
    }
    time.end_interval(walk(now), {{"/m", counted}});
    ASSERT_DOUBLE_EQ(ratio(time, "/m").value(),
                     static_cast<double>(lost) / static_cast<double>(lived));
  }
}

offcpud_thread runner(std::uint32_t tid, std::uint64_t running_ns, std::uint64_t kernel_ns) {
  offcpud_thread thread = blocked_thread(1, OFFCPUD_BLOCKED_POLL, 5);
  thread.tid = tid;
  thread.start_ns = 1'000 + tid;
  thread.running_ns = running_ns;
  thread.kernel_running_ns = kernel_ns;
  return thread;
}

TEST(RunningDeviation, ComparesTheIncreaseWithThatOfTheScheduler) {
  const auto before = walk_of({runner(1, 100, 5'000), runner(2, 0, 700)});
  const auto now = walk_of({runner(1, 1'110, 6'000), runner(2, 0, 700)});
  EXPECT_DOUBLE_EQ(running_deviation(*before, *now).value(), 0.01);
}

TEST(RunningDeviation, IncludesTheTimeOnTheCpuThatIsStillInProgress) {
  offcpud_thread spinner = thread_in(OFFCPUD_THREAD_RUNNING, 1, 900);
  spinner.tid = 1;
  spinner.start_ns = 1'001;
  spinner.running_ns = 100;
  spinner.kernel_running_ns = 6'000;
  const auto before = walk_of({runner(1, 0, 5'000)});
  EXPECT_EQ(running_deviation(*before, *walk_of({spinner})), 0.0);
}

TEST(RunningDeviation, OnlyThreadsThatWereFollowedAtBothWalksCount) {
  offcpud_thread without_state = runner(3, 0, 0);
  without_state.state = OFFCPUD_THREAD_ENDED;
  offcpud_thread reused = runner(4, 0, 0);
  reused.start_ns = 9;
  const auto before = walk_of({runner(1, 0, 0), without_state, reused, runner(9, 0, 0)});
  const auto now = walk_of({runner(1, 500, 1'000), runner(2, 0, 9'000), runner(3, 0, 9'000),
                            runner(4, 0, 9'000), runner(5, 0, 9'000)});
  EXPECT_EQ(running_deviation(*before, *now), -0.5);
}

// A thread that never leaves its CPU is the one to be compared.
TEST(RunningDeviation, IncludesAThreadThatWasFoundOnTheCpu) {
  const auto spinner_at = [](std::uint64_t now_ns, std::uint64_t kernel_ns) {
    offcpud_thread spinner = thread_in(OFFCPUD_THREAD_RUNNING, 1, 0);
    spinner.flags = OFFCPUD_THREAD_ESTIMATED;
    spinner.since_ns = 500;  // when it was found
    spinner.now_ns = now_ns;
    spinner.kernel_running_ns = kernel_ns;
    return walk_of({spinner});
  };
  EXPECT_EQ(running_deviation(*spinner_at(600, 7'000), *spinner_at(1'600, 8'000)), 0.0);
}

TEST(RunningDeviation, AThreadThatTookOverAnIdentityIsLeftOut) {
  const auto before = walk_of({runner(1, 9'000, 9'000), runner(2, 0, 0)});
  const auto now = walk_of({runner(1, 10, 10), runner(2, 100, 100)});
  EXPECT_EQ(running_deviation(*before, *now), 0.0);
}

TEST(RunningDeviation, IsNotKnownWhenNothingRan) {
  const auto walk = walk_of({runner(1, 5, 5)});
  EXPECT_EQ(running_deviation(*walk, *walk), std::nullopt);
}

}  // namespace
}  // namespace offcpud
