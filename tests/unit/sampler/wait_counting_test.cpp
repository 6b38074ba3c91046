// SPDX-License-Identifier: Apache-2.0
#include "sampler/wait_counting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "support/fake_clock.h"
#include "support/known_cgroups.h"
#include "support/sampled_blocks.h"
#include "support/times.h"
#include "unit/sampler/fake_addresses.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::BlockRecord;
using test::FakeAddresses;
using test::kSecond;

class WaitCountingTest : public testing::Test {
 protected:
  [[nodiscard]] Moment now() const { return {clock_.now(), clock_.wall()}; }
  static BlockRecord ended(std::uint64_t ns) { return BlockRecord(ns).in_kernel({7}); }
  // Of thread `tid`, blocked since the second `tid`.
  static BlockRecord lasting(std::uint32_t tid) {
    BlockRecord record =
        BlockRecord(kSecond).of(tid).in_kernel({tid}).flagged(OFFCPUD_SAMPLE_IN_PROGRESS);
    record.sample.since_ns = tid * kSecond;
    record.sample.whole_ns = 0;
    return record;
  }
  // How many of its stacks the next window has, each block once.
  std::size_t stacks_of_window(const std::vector<BlockRecord>& blocks) {
    for (const BlockRecord& block : blocks) counting_.add_lasting(block.block());
    clock_.advance(10s);
    const WaitInterval interval = counting_.close(now());
    EXPECT_EQ(interval.waits.blocks.size(), blocks.size());
    return interval.waits.sums.size();
  }

  // A user's 30,000 threads, in processes of so many, come before and after another's 40.
  void expect_room_beside_a_crowd(std::uint32_t threads_of_process, bool one_stack) {
    constexpr std::uint32_t kCrowd = 30'000, kOthers = 40, kFirst = 100'000;
    std::uint32_t next = kFirst;
    const auto crowd = [&](std::uint32_t threads) {
      for (const std::uint32_t end = next + threads; next < end; ++next) {
        const std::uint32_t tgid = next / threads_of_process * threads_of_process + 1;
        BlockRecord record = lasting(next).of(tgid).in_kernel({one_stack ? 7 : next});
        record.sample.tid = next;
        counting_.add_lasting(record.block());
      }
    };
    const auto others = [&](std::uint32_t first) {
      for (std::uint32_t pid = first; pid < first + kOthers; pid += 2) {
        counting_.add_lasting(lasting(pid).block());
        counting_.add_ended(ended(1'000).of(pid).in_kernel({pid, 2}).block());
      }
    };
    for (int window = 0; window < 3; ++window) {
      others(2);
      crowd(kCrowd);
      others(1'000);
      crowd(200);
      const WaitInterval interval = counting_.close(now());
      std::size_t sums = 0, blocks = 0;
      for (const WaitSum& sum : interval.waits.sums) sums += sum.sample.tgid < kFirst ? 1 : 0;
      for (const SeenBlock& block : interval.waits.blocks) {
        if (block.sum != SeenBlock::kKnown) {
          EXPECT_EQ(interval.waits.sums.at(block.sum).sample.tgid, block.tgid);
        }
        blocks += block.tgid < kFirst ? 1 : 0;
      }
      EXPECT_EQ(blocks, kOthers) << window;
      EXPECT_EQ(sums, window == 2 ? kOthers : 2 * kOthers) << "a sleeper's stack is told again";
      EXPECT_LE(interval.waits.sums.size(), WaitSums::kMostSums);
      EXPECT_LE(interval.waits.blocks.size(), WaitSums::kMostBlocks);
      EXPECT_EQ(interval.waits.blocks.size() + interval.waits.blocks_left_out,
                kCrowd + 200 + kOthers);
      EXPECT_EQ(counting_.told(), interval.waits.blocks.size());
    }
  }

  FakeClock clock_;
  FakeAddresses mappings_;
  test::KnownCgroups cgroups_{{1, "a"}};
  SamplerOptions options_;
  // Of processes with an odd number and those with an even one.
  static ShareOwner user_of(std::uint32_t tgid) { return tgid % 2; }
  WaitCounting counting_{mappings_, cgroups_.directory(), options_, now(), ProcessOwners(user_of)};
};

TEST_F(WaitCountingTest, CountsWhatEndedWhole) {
  counting_.add_ended(ended(1'000).standing_for(4'000).block());
  counting_.add_ended(ended(1'000).standing_for(4'000).block());
  BlockRecord rest = ended(2 * kSecond);  // a walk has counted all but a microsecond of it
  rest.sample.ns = rest.sample.weight_ns = 1'000;
  counting_.add_ended(rest.block());
  EXPECT_FALSE(counting_.is_due(clock_.now()));
  clock_.advance(10s);
  EXPECT_TRUE(counting_.is_due(clock_.now()));
  const WallTime begin = clock_.wall() - 10s;
  const WaitInterval interval = counting_.close(now());
  EXPECT_EQ(interval.begin, begin);
  ASSERT_EQ(interval.waits.sums.size(), 1U);
  WaitEstimate truth;
  truth.add(1'000, 4'000);
  truth.add(1'000, 4'000);
  truth.add(2 * kSecond, 2 * kSecond);
  EXPECT_EQ(interval.waits.sums[0].ended, truth);
  EXPECT_TRUE(interval.waits.blocks.empty()) << "none was long";
  EXPECT_FALSE(counting_.is_due(clock_.now())) << "the next one begins";
  EXPECT_TRUE(counting_.close(now()).waits.sums.empty());
}

// Blocks of those who wait for the GIL last only with a long switch interval.
TEST_F(WaitCountingTest, TheGilIsALockOfTheBlocksThatWaitForIt) {
  const auto holder = std::make_shared<const LockHolder>(LockHolder{.kind = LockKind::PythonGil});
  counting_.set_holders({});
  counting_.set_gil_waits({{.tid = 8, .since_ns = 5, .block_ns = 7, .holder = holder},
                           {.tid = 9, .since_ns = 5, .block_ns = 7}});
  clock_.advance(10s);
  const WaitInterval interval = counting_.close(now());
  EXPECT_EQ(interval.gil_waits.size(), 2U);
  ASSERT_EQ(interval.holders.size(), 1U);
  EXPECT_EQ(interval.holders.at({8, 7}), holder);
  EXPECT_TRUE(counting_.close(now()).gil_waits.empty());
}

// Nobody is known to have woken a thread that is killed.
TEST_F(WaitCountingTest, AWaitThatNobodyEndedWasOnTheHolderThatTheLastLookKnew) {
  const BlockRecord killed = ended(20 * kSecond).of(8), other = ended(20 * kSecond).of(9);
  LockHolder holder{.kind = LockKind::Mutex, .tid = 70};
  holder.process.tgid = holder.process.local_tgid = 7;
  counting_.set_holders(
      {{{killed.sample.tid, killed.sample.since_ns}, std::make_shared<const LockHolder>(holder)}});
  clock_.advance(10s);
  EXPECT_EQ(counting_.close(now()).holders.size(), 1U);
  counting_.add_ended(killed.block());
  counting_.add_ended(other.block());
  clock_.advance(10s);
  const auto peer_in = [](const WaitInterval& interval, std::uint32_t tgid) {
    for (const WaitSum& sum : interval.waits.sums) {
      if (sum.sample.tgid == tgid) return sum.peers.times().front().peer;
    }
    ADD_FAILURE();
    return WaitPeer();
  };
  const WaitInterval interval = counting_.close(now());
  EXPECT_EQ(peer_in(interval, 8).process.tgid, 7U);
  EXPECT_EQ(peer_in(interval, 9).kind, WaitPeer::Kind::Unknown);
  counting_.add_ended(killed.block());
  EXPECT_EQ(peer_in(counting_.close(now()), 8).kind, WaitPeer::Kind::Unknown)
      << "what an earlier look knew may have changed";
}

// The histograms of the kernel do not have them either.
TEST_F(WaitCountingTest, ABlockOlderThanTheDaemonCountsNowhere) {
  counting_.add_ended(ended(20 * kSecond).flagged(OFFCPUD_SAMPLE_CENSORED).block());
  const WaitInterval interval = counting_.close(now());
  ASSERT_EQ(interval.waits.sums.size(), 1U);
  EXPECT_EQ(interval.waits.sums[0].ended, WaitEstimate{});
  ASSERT_EQ(interval.waits.blocks.size(), 1U);
  EXPECT_TRUE(interval.waits.blocks[0].censored);
}

TEST_F(WaitCountingTest, LongBlocksThatEndedAreToldOneByOne) {
  counting_.add_ended(ended(10 * kSecond - 1).block());
  counting_.add_ended(ended(10 * kSecond).of(8).block());
  const WaitInterval interval = counting_.close(now());
  ASSERT_EQ(interval.waits.blocks.size(), 1U);
  EXPECT_EQ(interval.waits.blocks[0].tid, 8U);
  EXPECT_EQ(interval.waits.blocks[0].since_ns, kSecond);
}

// A sleeper's stack is told once, and again ever more seldom; its presence in every window.
TEST_F(WaitCountingTest, ASleepersStackIsNotToldInEachWindow) {
  std::vector<std::size_t> stacks;
  stacks.reserve(9);
  for (int window = 0; window < 9; ++window) {
    stacks.push_back(stacks_of_window({lasting(5), lasting(6)}));
  }
  EXPECT_EQ(stacks, (std::vector<std::size_t>{2, 2, 0, 2, 0, 0, 0, 2, 0}));
  EXPECT_EQ(stacks_of_window({lasting(5)}), 0U);
  EXPECT_EQ(stacks_of_window({lasting(5), lasting(6)}), 1U) << "one that was away is new";
  counting_.forget_told();
  EXPECT_EQ(stacks_of_window({lasting(5), lasting(6)}), 2U) << "other rules need all stacks again";
}

// An idle loop of epoll asks somebody for something after a minute, in the middle of its wait.
TEST_F(WaitCountingTest, ASleepersStackIsToldAgainWhenItsFilesSaySomethingElse) {
  const auto on = [](std::uint32_t files) {
    BlockRecord record = lasting(5);
    record.sample.waited_on = files;
    return record;
  };
  const BlockRecord idle = on(OFFCPUD_ON_HEARD), asks = on(OFFCPUD_ON_HEARD | OFFCPUD_ON_ASKED);
  std::vector<std::size_t> stacks;
  stacks.reserve(8);
  for (const BlockRecord& block : {idle, idle, idle, idle, idle, asks, asks, idle}) {
    stacks.push_back(stacks_of_window({block}));
  }
  EXPECT_EQ(stacks, (std::vector<std::size_t>{1, 1, 0, 1, 0, 1, 0, 1}));
  counting_.add_lasting(idle.block());
  counting_.add_lasting(asks.block());
  EXPECT_EQ(counting_.close(now()).waits.sums.size(), 0U) << "a window has a block once";
  EXPECT_EQ(stacks_of_window({asks}), 1U) << "the next one has it";
}

TEST_F(WaitCountingTest, AWindowThatIsPutOffIsDueALengthLaterAndKeepsItsBeginning) {
  const WallTime begin = clock_.wall();
  clock_.advance(10s);
  counting_.postpone(clock_.now());
  EXPECT_FALSE(counting_.is_due(clock_.now()));
  clock_.advance(10s);
  EXPECT_TRUE(counting_.is_due(clock_.now()));
  EXPECT_EQ(counting_.close(now()).begin, begin);
  EXPECT_FALSE(counting_.is_due(clock_.now()));
}

// Its blocks come and go meanwhile.
TEST_F(WaitCountingTest, AWindowThatCannotEndHasABoundAndCountsTheRest) {
  constexpr std::size_t kAll = 3 * WaitSums::kMostBlocks;
  for (std::uint32_t tid = 1; tid <= kAll; ++tid) {
    BlockRecord record = lasting(7);  // all have one stack
    record.sample.tid = tid;
    counting_.add_lasting(record.block());
    ASSERT_LE(counting_.told(), WaitCounting::kMostTold);
  }
  const WaitInterval interval = counting_.close(now());
  EXPECT_EQ(interval.waits.blocks.size(), WaitSums::kMostBlocks);
  EXPECT_EQ(interval.waits.blocks_left_out, kAll - WaitSums::kMostBlocks);
  EXPECT_EQ(counting_.told(), WaitSums::kMostBlocks);
}

TEST_F(WaitCountingTest, ThreadsOfOneUserTakeNoRoomFromAnothers) {
  expect_room_beside_a_crowd(100, true);
}

TEST_F(WaitCountingTest, StacksOfOneUserTakeNoRoomFromAnothers) {
  expect_room_beside_a_crowd(2, false);
}

// Only the owners of some holders are asked for. A user with more processes than that, a stack
// each, must not make nobody's what another's process has.
TEST_F(WaitCountingTest, ManySmallProcessesOfOneUserTakeNoRoomFromAnothersLargeOne) {
  constexpr std::uint32_t kLarge = 2, kStacks = 40, kFirst = 100'001;
  std::uint32_t next = kFirst;
  const auto crowd = [&](std::uint32_t processes) {
    for (const std::uint32_t end = next + 2 * processes; next < end; next += 2) {
      counting_.add_ended(ended(1'000).of(next).in_kernel({7}).block());
    }
  };
  crowd(5'000);
  for (std::uint32_t stack = 0; stack < kStacks; ++stack) {
    counting_.add_ended(ended(1'000).of(kLarge).in_kernel({stack}).block());
  }
  crowd(10'000);
  const WaitInterval interval = counting_.close(now());
  EXPECT_EQ(interval.waits.sums.size(), WaitSums::kMostSums);
  EXPECT_EQ(std::ranges::count_if(interval.waits.sums,
                                  [](const WaitSum& sum) { return sum.sample.tgid == kLarge; }),
            kStacks);
}

// Blocks whose stacks found no room go on, too.
TEST_F(WaitCountingTest, WhatIsLeftOutKeepsItsTimeAtEachWalk) {
  constexpr std::uint32_t kMost = WaitSums::kMostSums + 3;
  const auto begin_ns = static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
  for (const std::uint64_t walk : {1, 2, 3}) {
    for (std::uint32_t tid = 1; tid <= kMost; ++tid) {
      BlockRecord record = lasting(tid);
      record.sample.ended_ns = begin_ns + walk * kSecond;
      counting_.add_lasting(record.block());
    }
  }
  const WaitInterval interval = counting_.close(now());
  double all_ns = 0;
  for (const SeenBlock& block : interval.waits.blocks) {
    all_ns += static_cast<double>(block.going_on_ns);
  }
  for (const auto& [cgroup, time] : interval.waits.overflow_times) all_ns += time.ns;
  EXPECT_EQ(all_ns, 3.0 * kMost * kSecond);
  EXPECT_EQ(interval.waits.blocks_left_out, 3U) << "each block counts once";
}

// A walk saw it, and it was not long when it ended.
TEST_F(WaitCountingTest, ABlockThatEndedDoesNotLast) {
  BlockRecord seen = lasting(5);
  seen.sample.ended_ns = seen.sample.since_ns + kSecond;
  counting_.add_lasting(seen.block());
  BlockRecord over = ended(kSecond).of(5);
  over.sample.since_ns = seen.sample.since_ns;
  over.sample.ended_ns = over.sample.since_ns + 2 * kSecond;
  counting_.add_ended(over.block());
  const WaitInterval interval = counting_.close(now());
  ASSERT_EQ(interval.waits.blocks.size(), 1U);
  EXPECT_FALSE(interval.waits.blocks[0].lasts);
}

TEST_F(WaitCountingTest, AReasonThatSnapshotsLeaveOutIsLeftOut) {
  CaptureRules rules;
  rules.blocks.kinds = 1U << OFFCPUD_BLOCKED_DISK;
  rules.blocks.min_ns = kSecond;
  options_.capture = std::make_shared<const CaptureRules>(rules);
  counting_.set_options(options_);
  EXPECT_EQ(counting_.filter().kinds, 1U << OFFCPUD_BLOCKED_DISK);
  EXPECT_EQ(counting_.filter().min_ns, 0U) << "short ones count all the same";
  counting_.add_ended(ended(1'000).block());
  EXPECT_TRUE(counting_.close(now()).waits.sums.empty());
}

// Time before the window was in others: a walk counts it, or the window before.
TEST_F(WaitCountingTest, TimeWithinTheWindowCountsWhetherBlocksEndOrNot) {
  const auto begin_ns = static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
  const auto part = [&](BlockRecord record, std::uint64_t until_ns, std::uint64_t ns) {
    record.sample.since_ns = begin_ns - 5 * kSecond;
    record.sample.ended_ns = begin_ns + until_ns;
    record.sample.ns = record.sample.weight_ns = ns;
    return record;
  };
  counting_.add_lasting(part(lasting(5), 3 * kSecond, 8 * kSecond).block());
  counting_.add_lasting(part(lasting(5), 7 * kSecond, 4 * kSecond).block());
  counting_.add_lasting(part(lasting(6), 7 * kSecond, 7 * kSecond).block());
  BlockRecord rest = part(ended(1).of(6).in_kernel({6}), 9 * kSecond, 2 * kSecond);
  rest.sample.whole_ns = 14 * kSecond;
  counting_.add_ended(rest.block());
  BlockRecord short_one = ended(1'000).standing_for(4'000);
  short_one.sample.ended_ns = begin_ns + kSecond;
  short_one.sample.since_ns = short_one.sample.ended_ns - 1'000;
  counting_.add_ended(short_one.block());
  clock_.advance(10s);
  const WaitInterval interval = counting_.close(now());
  EXPECT_EQ(interval.end_at - interval.begin_at, 10s);
  ASSERT_EQ(interval.waits.blocks.size(), 2U);
  EXPECT_EQ(interval.waits.blocks[0].going_on_ns, 7 * kSecond) << "the first 5 s were before";
  EXPECT_TRUE(interval.waits.blocks[0].lasts);
  EXPECT_EQ(interval.waits.blocks[1].going_on_ns, 7 * kSecond);
  EXPECT_FALSE(interval.waits.blocks[1].lasts) << "it ended after the walk";
  std::map<std::uint64_t, WaitTime> within;
  for (const WaitSum& sum : interval.waits.sums) within[sum.kernel()[0]] = sum.within;
  EXPECT_EQ(within[5], WaitTime{});
  EXPECT_EQ(within[6], (WaitTime{.ns = 2e9}));
  EXPECT_EQ(within[7], (WaitTime{.ns = 4'000, .variance_ns2 = 4'000.0 * 3'000}));
}

TEST_F(WaitCountingTest, WhatFindsNoRoomKeepsItsTimeAndCgroup) {
  for (std::uint64_t i = 0; i < WaitSums::kMostSums + 3; ++i) {
    counting_.add_ended(BlockRecord(1'000).in_kernel({i}).block());
  }
  const WaitInterval interval = counting_.close(now());
  EXPECT_EQ(interval.waits.sums.size(), WaitSums::kMostSums);
  ASSERT_EQ(interval.waits.overflow.size(), 1U);
  EXPECT_EQ(interval.waits.overflow.begin()->first, 1U);
  EXPECT_EQ(interval.waits.overflow.begin()->second.sum_ns, 3'000);
  EXPECT_TRUE(interval.waits.overflow_times.contains(1));
}

}  // namespace
}  // namespace offcpud
