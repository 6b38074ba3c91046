// SPDX-License-Identifier: Apache-2.0
#include "sampler/block_accounting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "reader/process_memory.h"
#include "support/known_cgroups.h"
#include "unit/sampler/fake_stack_source.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::FakeStackSource;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Knows nothing of any process.
class FakeAddresses final : public AddressLocator {
 public:
  void follow() override {
    if (in_the_middle) in_the_middle();
  }
  void forget_ended() override {}
  [[nodiscard]] std::vector<LocatedFrame> locate(std::uint32_t /*tgid*/, std::uint64_t /*when_ns*/,
                                                 std::span<const __u64> addresses) const override {
    return std::vector<LocatedFrame>(addresses.size());
  }
  std::function<void()> in_the_middle;
};

// What windows gave; the naming thread adds to it.
struct Outcomes {
  void add(Result<SampledSnapshot> result) {
    const std::lock_guard lock(mutex);
    if (result) {
      snapshots.push_back(std::move(result->snapshot));
    } else {
      errors.push_back(result.error().message());
    }
  }
  std::mutex mutex;
  std::vector<Snapshot> snapshots;
  std::vector<std::string> errors;
};

std::chrono::nanoseconds time_in(const Snapshot& snapshot) {
  return std::accumulate(
      snapshot.entries.begin(), snapshot.entries.end(), 0ns,
      [](auto sum, const StackEntry& entry) { return sum + std::chrono::nanoseconds(entry.ns); });
}

double episodes_in(const Snapshot& snapshot) {
  return std::accumulate(snapshot.entries.begin(), snapshot.entries.end(), 0.0,
                         [](double sum, const StackEntry& entry) { return sum + entry.episodes; });
}

std::vector<std::chrono::nanoseconds> times(const std::vector<Snapshot>& snapshots) {
  std::vector<std::chrono::nanoseconds> found;
  std::ranges::transform(snapshots, std::back_inserter(found), time_in);
  return found;
}

BlockFilter only_pid(std::uint32_t pid) {
  BlockFilter filter;
  filter.pid = pid;
  return filter;
}

const auto kSelf = static_cast<std::uint32_t>(::getpid());
constexpr std::uint32_t kOther = 1;  // a process that exists

// As a rule of wait sites names them.
constexpr const char* kAllReasons =
    "disk | lock | condvar | network | pipe | poll | sleep | child | kernel | stopped | other";

class BlockAccountingTest : public testing::Test {
 protected:
  void start() {
    accounting_.emplace(AccountingParts{.kernel = kernel_,
                                        .addresses = addresses_,
                                        .sleepers = sleepers_,
                                        .naming = naming_,
                                        .cgroups = cgroups_.directory(),
                                        .clock = clock_},
                        options_, reports_);
  }

  // Lets so much time pass, with the ticks that belong into it.
  void run(std::chrono::milliseconds time) {
    for (const MonotonicTime end = clock_.now() + time; clock_.now() < end;) {
      const std::chrono::nanoseconds left = end - clock_.now();
      clock_.advance(std::min<std::chrono::nanoseconds>(left, accounting_->tick_interval()));
      accounting_->tick();
    }
  }

  void profile(std::chrono::milliseconds length, const BlockFilter& filter) {
    accounting_->take_next(length, filter, [this](Result<SampledSnapshot> result) {
      profiles_.add(std::move(result));
    });
  }

  // Until everything that ended has its names.
  void settle() { naming_.finish(10s); }

  [[nodiscard]] SamplerReports told() {
    SamplerReports reports;
    reports.finished = [this](Result<SampledSnapshot> result) {
      snapshots_.add(std::move(result));
    };
    reports.sampled = [](std::uint32_t /*user_end*/) {};
    reports.located_early = [this] { ++located_early_; };
    reports.adapted = [this](std::chrono::nanoseconds interval) { adapted_.push_back(interval); };
    reports.warned = [this](std::string_view topic, const std::string& /*sentence*/) {
      warned_.emplace_back(topic);
    };
    return reports;
  }

  FakeClock clock_;
  FakeStackSource kernel_{clock_};
  FakeAddresses addresses_;
  DirectProcessMemory memory_;
  SleeperStacks sleepers_{nullptr, memory_};
  test::KnownCgroups cgroups_{{test::cgroup_of(kSelf), "self"}, {test::cgroup_of(kOther), "other"}};
  Outcomes snapshots_, profiles_;
  std::vector<std::chrono::nanoseconds> adapted_;
  std::vector<std::string> warned_;
  int located_early_ = 0;
  SamplerOptions options_{.interval = 10s};
  const SamplerReports reports_ = told();
  SymbolWorker symbols_{{}};
  std::shared_ptr<SiteRulesBoard> sites_ = std::make_shared<SiteRulesBoard>(*SiteRules::make({}));
  NamingQueue naming_{
      symbols_,
      std::make_shared<RuntimeNames>(RuntimeNames{.perf_maps = PerfMaps(nullptr, {}), .vdso = {}}),
      sites_, clock_};
  std::optional<BlockAccounting> accounting_;
};

TEST_F(BlockAccountingTest, SnapshotsFollowOneAnotherWithoutAGap) {
  start();
  const WallTime began = clock_.wall();
  run(35s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(3));
  WallTime end = began;
  for (const Snapshot& snapshot : snapshots_.snapshots) {
    EXPECT_EQ(snapshot.begin, end);
    EXPECT_EQ(snapshot.duration, 10s);
    EXPECT_FALSE(snapshot.partial);
    end = snapshot.end;
  }
  EXPECT_EQ(end, began + 30s);
}

TEST_F(BlockAccountingTest, ALateTickMakesTheSnapshotLonger) {
  start();
  run(9900ms);
  clock_.advance(700ms);
  accounting_->tick();
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 10600ms);
}

TEST_F(BlockAccountingTest, ABlockThatSpansSnapshotsIsAccountedOnce) {
  start();
  run(3s);
  kernel_.block(kOther);
  run(25s);
  kernel_.wake(kOther);
  run(12s);
  settle();
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(7s, 10s, 8s, 0s));
  EXPECT_EQ(snapshots_.snapshots.at(2).entries.at(0).cgroup, "/other");
  EXPECT_TRUE(snapshots_.snapshots.at(1).entries.at(0).in_progress);
  EXPECT_EQ(episodes_in(snapshots_.snapshots.at(1)), 0);
  EXPECT_FALSE(snapshots_.snapshots.at(2).entries.at(0).in_progress);
  EXPECT_EQ(episodes_in(snapshots_.snapshots.at(2)), 1);
}

TEST_F(BlockAccountingTest, NewRulesHoldFromTheNextSnapshotOn) {
  const auto put_in_force = [this](const std::string& rule) {
    const auto rules =
        parse_site_rules("sites: [{" + rule + ", reason: '" + kAllReasons + "'}]", "f");
    ASSERT_TRUE(rules) << rules.error().message();
    sites_->publish(*SiteRules::make(*rules));
  };
  start();
  kernel_.block(kOther);
  run(10s);
  settle();
  put_in_force("name: one, for: lock");
  run(10s);
  settle();
  put_in_force("name: two, for: answer");
  run(10s);
  settle();
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(10s, 10s, 10s));  // nothing is lost
  std::vector<std::string> sites;
  for (const Snapshot& snapshot : snapshots_.snapshots) {
    ASSERT_THAT(snapshot.entries, SizeIs(1));
    sites.push_back(snapshot.entries[0].site);
  }
  EXPECT_THAT(sites, ElementsAre("", "one", "two"));
  EXPECT_EQ(snapshots_.snapshots[2].entries[0].wait_for, WaitFor::Answer);
}

TEST_F(BlockAccountingTest, AProfileTakesItsOwnBesideASnapshot) {
  start();
  EXPECT_EQ(accounting_->tick_interval(), 250ms);
  kernel_.block(kSelf);
  kernel_.block(kOther);
  run(3s);
  profile(2s, only_pid(kSelf));
  EXPECT_EQ(accounting_->tick_interval(), 50ms);
  run(3s);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(1));
  EXPECT_EQ(profiles_.snapshots[0].duration, 2s);
  EXPECT_FALSE(profiles_.snapshots[0].partial);
  EXPECT_THAT(profiles_.snapshots[0].entries, SizeIs(1));
  EXPECT_EQ(time_in(profiles_.snapshots[0]), 2s);  // without what was before it
  EXPECT_EQ(accounting_->tick_interval(), 250ms);
  EXPECT_THAT(snapshots_.snapshots, IsEmpty());
  run(4s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 10s);
  EXPECT_EQ(time_in(snapshots_.snapshots[0]), 10s + 10s);
}

TEST_F(BlockAccountingTest, ManyProfilesAtATimeAreRefusedAndSoAreThoseOfNobody) {
  start();
  profile(1s, only_pid(0));
  EXPECT_THAT(profiles_.errors, ElementsAre(HasSubstr("there is no process 0")));
  for (std::size_t i = 0; i < SampleWindows::kMost; ++i) profile(1s, {});
  EXPECT_THAT(profiles_.errors, SizeIs(2));
  EXPECT_THAT(profiles_.errors.back(), HasSubstr("too many profiles"));
  run(1s);
  settle();
  EXPECT_THAT(profiles_.snapshots, SizeIs(SampleWindows::kMost - 1));
}

// The profile is the last that could hold the block; the snapshot holds it when it has ended.
TEST_F(BlockAccountingTest, AYoungBlockIsInTheProfileThatEndsAndOnceInTheSnapshot) {
  start();
  profile(1s, {});
  run(900ms);
  kernel_.block(kOther);
  run(100ms);
  run(50ms);
  kernel_.wake(kOther);
  run(9s);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(1));
  EXPECT_EQ(time_in(profiles_.snapshots[0]), 100ms);
  EXPECT_EQ(episodes_in(profiles_.snapshots[0]), 0);
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(150ms));
  EXPECT_EQ(episodes_in(snapshots_.snapshots[0]), 1);
}

TEST_F(BlockAccountingTest, AYoungBlockThatEndsWhileTheProfileDoesIsInItOnce) {
  start();
  profile(1s, {});
  run(900ms);
  kernel_.block(kOther);
  kernel_.after_walk = [this] { kernel_.wake(kOther); };
  run(100ms);
  run(9s);
  settle();
  EXPECT_THAT(times(profiles_.snapshots), ElementsAre(100ms));
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(100ms));
}

TEST_F(BlockAccountingTest, LostTimeIsInWhatWantsEverythingAndNotedElsewhere) {
  start();
  profile(1s, {});
  profile(1s, only_pid(kSelf));
  kernel_.lost_ns = 700;
  run(10s);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(2));
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  for (const Snapshot* all : {&snapshots_.snapshots[0], &profiles_.snapshots[0]}) {
    EXPECT_EQ(time_in(*all), 700ns);
    EXPECT_EQ(all->lost_of_any_ns, 0U);
  }
  EXPECT_EQ(time_in(profiles_.snapshots[1]), 0ns);
  EXPECT_EQ(profiles_.snapshots[1].lost_of_any_ns, 700U);
}

TEST_F(BlockAccountingTest, TheIntervalFollowsTheNumberOfSamples) {
  options_.stacks_per_second = 200;
  start();
  const auto after_second_with = [this](std::size_t samples) {
    kernel_.sample(samples);
    run(1s);
    return kernel_.choice->interval;
  };
  EXPECT_EQ(kernel_.choice->interval, 10ms);
  EXPECT_EQ(after_second_with(400), 20ms);
  EXPECT_EQ(after_second_with(300), 30ms);
  EXPECT_EQ(after_second_with(4000), 60ms);  // twice at most
  EXPECT_EQ(after_second_with(200), 60ms);
  EXPECT_EQ(after_second_with(0), 30ms);
  EXPECT_THAT(adapted_, ElementsAre(20ms, 30ms, 60ms, 60ms, 30ms));
  options_.stacks_per_second = 400;
  accounting_->set_options(options_);
  EXPECT_EQ(after_second_with(400), 30ms);
}

TEST_F(BlockAccountingTest, AProfiledProcessHasAnIntervalOfItsOwn) {
  start();
  kernel_.sample(200);
  profile(1s, only_pid(kSelf));
  EXPECT_THAT(kernel_.choice->targets, ElementsAre(kSelf));
  EXPECT_EQ(kernel_.choice->target_interval, 10ms);
  run(50ms);
  EXPECT_EQ(kernel_.choice->target_interval, 5ms);  // there was nothing
  kernel_.sample(400, 5ms);                         // twice the budget
  run(50ms);
  EXPECT_EQ(kernel_.choice->target_interval, 10ms);
  EXPECT_EQ(kernel_.choice->interval, 10ms);
  run(1s);
  EXPECT_THAT(kernel_.choice->targets, IsEmpty());
  // Of those 400, which stand for 5 ms each, half would have been taken at 10 ms.
  EXPECT_THAT(adapted_, ElementsAre(20ms));
  profile(1s, only_pid(kSelf));
  EXPECT_EQ(kernel_.choice->target_interval, 10ms);  // anew
}

TEST_F(BlockAccountingTest, AWindowKeepsTheLongestIntervalThatWasInForceInIt) {
  options_.stacks_per_second = 200;
  options_.interval = 10s;
  start();
  kernel_.sample(400);
  run(1s);
  EXPECT_EQ(kernel_.choice->interval, 20ms);
  profile(500ms, {});
  run(500ms);
  run(2s);  // nothing is sampled: 5 ms
  EXPECT_EQ(kernel_.choice->interval, 5ms);
  profile(300ms, {});
  profile(300ms, only_pid(kSelf));
  kernel_.sample(400, 5ms);
  run(300ms);
  settle();
  ASSERT_THAT(profiles_.snapshots, SizeIs(3));
  EXPECT_EQ(profiles_.snapshots[0].sampling_interval, 20ms);
  EXPECT_EQ(profiles_.snapshots[1].sampling_interval, 5ms);
  EXPECT_EQ(profiles_.snapshots[2].sampling_interval, 5ms);
  run(8s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].sampling_interval, 20ms);
}

TEST_F(BlockAccountingTest, NamingThatHangsIsGivenUpAndTold) {
  options_.interval = 1s;
  start();
  std::promise<void> answers;
  symbols_.post(
      [answer = answers.get_future().share()](SymbolCache& /*objects*/) { answer.wait(); });
  run(12s);
  EXPECT_THAT(snapshots_.errors, SizeIs(12 - NamingQueue::kMost));
  EXPECT_THAT(snapshots_.errors, Each(HasSubstr("take too long")));
  profile(500ms, {});
  run(500ms);
  EXPECT_THAT(profiles_.errors, SizeIs(1));
  answers.set_value();
  settle();
  EXPECT_THAT(snapshots_.snapshots, SizeIs(NamingQueue::kMost));
  run(1s);
  settle();
  EXPECT_THAT(snapshots_.snapshots, SizeIs(NamingQueue::kMost + 1));
}

TEST_F(BlockAccountingTest, StoppingEndsAllWindowsBeforeTheirTime) {
  start();
  kernel_.block(kOther);
  run(3s);
  profile(5s, {});
  run(1s);
  accounting_->stop();
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_TRUE(snapshots_.snapshots[0].partial);
  EXPECT_EQ(snapshots_.snapshots[0].duration, 4s);
  EXPECT_EQ(time_in(snapshots_.snapshots[0]), 4s);
  ASSERT_THAT(profiles_.snapshots, SizeIs(1));
  EXPECT_TRUE(profiles_.snapshots[0].partial);
  EXPECT_EQ(time_in(profiles_.snapshots[0]), 1s);

  accounting_->stop();
  accounting_->set_options(options_);
  accounting_->keep_time();
  run(20s);
  profile(1s, {});
  settle();
  EXPECT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_THAT(profiles_.errors, ElementsAre("offcpud is stopping"));
  accounting_.reset();
  EXPECT_EQ(kernel_.choice->blocks, BlockFilter::none());
}

TEST_F(BlockAccountingTest, OtherRulesEndTheSnapshotThatIsOpen) {
  start();
  run(4s);
  CaptureRules rules;
  rules.blocks.min_ns = 5;
  rules.text = "long ones";
  options_.capture = std::make_shared<const CaptureRules>(rules);
  accounting_->set_options(options_);
  EXPECT_EQ(kernel_.choice->blocks.min_ns, 5U);
  run(10s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(2));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 4s);
  EXPECT_THAT(snapshots_.snapshots[0].captured, IsEmpty());
  EXPECT_EQ(snapshots_.snapshots[1].duration, 10s);
  EXPECT_THAT(snapshots_.snapshots[1].captured, ElementsAre("long ones"));
}

TEST_F(BlockAccountingTest, AnotherLengthHoldsForTheSnapshotThatIsOpen) {
  start();
  run(4s);
  options_.interval = 5s;
  accounting_->set_options(options_);
  run(6s);
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(2));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 5s);
  EXPECT_EQ(snapshots_.snapshots[1].duration, 5s);
}

// As where many programs start at once.
TEST_F(BlockAccountingTest, AWindowEndsWhileMappingsAreFollowedForLong) {
  start();
  run(9s);
  kernel_.block(kOther);
  addresses_.in_the_middle = [this] {
    clock_.advance(100ms);
    accounting_->keep_time();
  };
  for (int step = 0; step < 14; ++step) addresses_.follow();
  settle();
  EXPECT_THAT(snapshots_.snapshots, IsEmpty());  // 10.4 s
  kernel_.sample(1);
  addresses_.follow();
  settle();
  ASSERT_THAT(snapshots_.snapshots, SizeIs(1));
  EXPECT_EQ(snapshots_.snapshots[0].duration, 10500ms);
  EXPECT_EQ(time_in(snapshots_.snapshots[0]), 1500ms + 1us);
  EXPECT_EQ(located_early_, 1);
}

TEST_F(BlockAccountingTest, WhatTheKernelDoesNotGiveIsWarnedOf) {
  start();
  kernel_.failure = Error("no");
  kernel_.block(kOther);
  kernel_.sample(1);
  run(10s);
  settle();
  EXPECT_THAT(warned_, testing::Contains("samples"));
  EXPECT_THAT(warned_, testing::Contains("blocked"));
  EXPECT_THAT(times(snapshots_.snapshots), ElementsAre(10s + 1us));
}

TEST_F(BlockAccountingTest, WithoutHooksNothingIsChosen) {
  kernel_.hooks = false;
  start();
  profile(1s, only_pid(kSelf));
  run(11s);
  settle();
  EXPECT_FALSE(kernel_.choice);
  EXPECT_THAT(snapshots_.snapshots, SizeIs(1));
}

}  // namespace
}  // namespace offcpud
