// SPDX-License-Identifier: Apache-2.0
#include "stacks/interval_chains.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/times.h"

namespace offcpud {
namespace {

using test::kMs;

// Thread `tid` was blocked from `since` to `until` (ms), until thread `waker` ended it; 0: nobody
// who is known.
ChainedBlock block(std::uint32_t tid, std::uint64_t since, std::uint64_t until, std::uint32_t waker,
                   WaitFor wait_for = WaitFor::Answer, double stands_for = 1) {
  ChainedBlock block{.tid = tid,
                     .tgid = tid,
                     .since_ns = since * kMs,
                     .ended_ns = until * kMs,
                     .stands_for = stands_for,
                     .wait_for = wait_for};
  if (waker != 0) {
    block.peer = {.kind = WaitPeer::Kind::Process, .process = {.tgid = waker}, .tid = waker};
  }
  return block;
}

// "answer 3 runs": the wait went to thread 3, which ran; in ms. "busy": who comes next was busy
// with other requests, and for these did what follows.
std::map<std::string, double> divided(const ChainedBlock& wait, std::vector<ChainedBlock> others,
                                      std::uint64_t begin = 0) {
  others.push_back(wait);
  const IntervalChains chains(std::move(others), begin * kMs);
  std::map<std::string, double> pieces;
  double sum = 0;
  chains.divide(wait, wait.since_ns, [&](const IntervalChains::Piece& piece) {
    std::string path;
    for (std::size_t i = 0; i <= piece.steps.size(); ++i) {
      if (piece.busy_after == i) path += "busy ";
      if (i == piece.steps.size()) break;
      const ChainedBlock& step = *piece.steps[i];
      path += std::string(name_of(step.wait_for)) + " " + std::to_string(step.peer.tid) + " ";
    }
    constexpr const char* kEnds[] = {"runs", "has CPU", "queued", "waits", "idle", "unknown"};
    pieces[path + kEnds[static_cast<std::size_t>(piece.end)]] += piece.ns / kMs;
    sum += piece.ns;
  });
  EXPECT_NEAR(sum, static_cast<double>(wait.ended_ns - wait.since_ns), 1) << "it is divided";
  return pieces;
}

using Pieces = std::map<std::string, double>;

// 1 waits for 2, which asks 3 in the middle; 3 sleeps, and then runs.
TEST(IntervalChains, DividesAWaitByWhatOthersDidMeanwhile) {
  EXPECT_EQ(
      divided(block(1, 100, 200, 2), {block(2, 120, 180, 3), block(3, 0, 120, 2, WaitFor::Work),
                                      block(3, 121, 171, 0, WaitFor::Timer)}),
      (Pieces{{"runs", 40}, {"answer 3 runs", 10}, {"answer 3 timer 0 waits", 50}}));
}

// Only what lies within the wait counts: before, the other one did something for somebody else.
TEST(IntervalChains, ClipsToTheWait) {
  EXPECT_EQ(divided(block(1, 100, 200, 2),
                    {block(2, 20, 130, 3, WaitFor::Lock), block(2, 150, 160, 0, WaitFor::Storage),
                     block(2, 300, 400, 3)}),
            (Pieces{{"lock 3 runs", 30}, {"storage 0 waits", 10}, {"runs", 60}}));
}

TEST(IntervalChains, WhoWaitsForWorkDoesNothingForIt) {
  EXPECT_EQ(divided(block(1, 100, 200, 2), {block(2, 90, 130, 1, WaitFor::Work)}),
            (Pieces{{"work 1 idle", 30}, {"runs", 70}}));
}

TEST(IntervalChains, WhatIsFromBeforeTheFirstKnownBlockIsUnknown) {
  EXPECT_EQ(divided(block(1, 100, 200, 2), {}, 150), (Pieces{{"unknown", 50}, {"runs", 50}}));
}

// One of ten such blocks is in the sample: it stands for all of them.
TEST(IntervalChains, SampledBlocksStandForOthers) {
  EXPECT_EQ(divided(block(1, 100, 200, 2), {block(2, 110, 114, 0, WaitFor::Storage, 10)}),
            (Pieces{{"storage 0 waits", 40}, {"runs", 60}}));
  EXPECT_EQ(divided(block(1, 100, 200, 2), {block(2, 110, 160, 0, WaitFor::Storage, 4)}),
            (Pieces{{"storage 0 waits", 200}, {"runs", -100}}))
      << "too much this time, too little another time";
}

TEST(IntervalChains, CirclesEnd) {
  EXPECT_EQ(divided(block(1, 100, 200, 2), {block(2, 110, 190, 3), block(3, 120, 180, 2)}),
            (Pieces{{"runs", 20}, {"answer 3 runs", 20}, {"answer 3 answer 2 waits", 60}}));
  EXPECT_EQ(divided(block(1, 100, 200, 2), {block(2, 110, 190, 1)}),
            (Pieces{{"runs", 20}, {"answer 1 waits", 80}}));
}

TEST(IntervalChains, GoesFourHops) {
  std::vector<ChainedBlock> others;
  for (std::uint32_t tid = 2; tid < 10; ++tid) others.push_back(block(tid, 100, 200, tid + 1));
  EXPECT_EQ(divided(block(1, 100, 200, 2), others),
            (Pieces{{"answer 3 answer 4 answer 5 answer 6 waits", 100}}));
}

// As many blocks as it likes: the work for one wait is bounded.
TEST(IntervalChains, ManyPiecesBecomeUnknown) {
  std::vector<ChainedBlock> others;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    others.push_back(block(2, 1'000 + 10 * i, 1'005 + 10 * i, 0, WaitFor::Storage));
  }
  EXPECT_EQ(divided(block(1, 1'000, 11'000, 2), others),
            (Pieces{{"storage 0 waits", 256 * 5}, {"runs", 256 * 5}, {"unknown", 10'000 - 2'560}}));
}

// It knows no other process's blocks, although the thread's number is the same.
TEST(IntervalChains, ANumberThatWasGivenOutAgainIsAnotherThreads) {
  ChainedBlock other = block(2, 110, 190, 0, WaitFor::Storage);
  other.tgid = 77;
  EXPECT_EQ(divided(block(1, 100, 200, 2), {other}), (Pieces{{"runs", 100}}));
}

// Whoever ends it does nothing for who sleeps.
TEST(IntervalChains, ATimerLeadsToNobody) {
  EXPECT_EQ(divided(block(1, 100, 200, 2),
                    {block(2, 100, 200, 3, WaitFor::Timer), block(3, 100, 200, 4)}),
            (Pieces{{"timer 3 waits", 100}}));
}

// What a thread itself tells of its last blocks.
PastBlock past(std::uint32_t tid, std::uint64_t since, std::uint64_t until, std::uint32_t ender,
               std::uint32_t kind = OFFCPUD_BLOCKED_NETWORK) {
  return {.tid = tid,
          .tgid = tid,
          .since_ns = since * kMs,
          .ended_ns = until * kMs,
          .kind = kind,
          .ender = ender};
}

ChainedBlock with_past(ChainedBlock wait, PastBlocks blocks) {
  wait.past = std::make_shared<const PastBlocks>(std::move(blocks));
  return wait;
}

// Of long ago, so that they tell what such blocks are for, and nothing of this wait.
void add_habit(std::vector<ChainedBlock>& blocks, std::uint32_t tid, std::uint32_t ender,
               WaitFor wait_for, std::uint32_t kind = OFFCPUD_BLOCKED_NETWORK) {
  for (std::uint64_t i = 0; i < WaitHabits::kLeastSamples; ++i) {
    ChainedBlock habit = block(tid, 1 + 2 * i, 2 + 2 * i, ender, wait_for);
    habit.kind = kind;
    habit.ender = ender;
    blocks.push_back(habit);
  }
}

TEST(IntervalChains, AThreadsOwnAccountNeedsNoSamples) {
  const ChainedBlock wait = with_past(
      block(1, 100, 200, 2), {past(2, 60, 99, 1), past(2, 110, 180, 3), past(3, 50, 111, 2),
                              past(3, 115, 165, 0, OFFCPUD_BLOCKED_SLEEP)});
  std::vector<ChainedBlock> others;
  add_habit(others, 2, 3, WaitFor::Answer);
  add_habit(others, 2, 1, WaitFor::Work);
  add_habit(others, 3, 2, WaitFor::Work);
  add_habit(others, 3, 0, WaitFor::Timer, OFFCPUD_BLOCKED_SLEEP);
  EXPECT_EQ(divided(wait, others), (Pieces{{"has CPU", 30},
                                           {"answer 3 has CPU", 19},
                                           {"answer 3 work 2 idle", 1},
                                           {"answer 3 timer 0 waits", 50}}));
}

TEST(IntervalChains, BeforeItsOwnAccountSamplesTell) {
  const ChainedBlock wait = with_past(block(1, 100, 200, 2), {past(2, 150, 180, 0)});
  const Pieces pieces = divided(wait, {block(2, 110, 120, 0, WaitFor::Storage)});
  EXPECT_NEAR(pieces.at("storage 0 waits"), 10, 0.01);
  EXPECT_NEAR(pieces.at("runs"), 40, 0.01);
  EXPECT_NEAR(pieces.at("has CPU"), 20, 0.01);
  EXPECT_NEAR(pieces.at("unknown 0 waits"), 30, 0.01) << "nobody knows what it was for";
}

// The account has its beginning rounded, and a sample has it, too.
TEST(IntervalChains, ABlockThatIsSampledAsWellCountsOnce) {
  PastBlock rounded = past(2, 150, 180, 0);
  rounded.since_ns += 1'000;
  const ChainedBlock wait = with_past(block(1, 100, 200, 2), {rounded});
  const Pieces pieces = divided(wait, {block(2, 150, 180, 0, WaitFor::Storage, 800)});
  EXPECT_NEAR(pieces.at("storage 0 waits"), 30, 0.01) << "what the sample says of it";
  EXPECT_NEAR(pieces.at("runs") + pieces.at("has CPU"), 70, 0.01);
}

TEST(IntervalChains, ManyBlocksTooShortToBeToldAreUnknown) {
  PastBlock last = past(2, 180, 190, 0);
  last.skipped_ns = 60 * kMs;  // between 90 and 180, of which 80 are within the wait
  const ChainedBlock wait = with_past(block(1, 100, 200, 2), {past(2, 80, 90, 0), last});
  const Pieces pieces = divided(wait, {});
  EXPECT_NEAR(pieces.at("unknown"), 80.0 * 60 / 90, 0.01);
  EXPECT_NEAR(pieces.at("has CPU"), 10 + 80.0 * 30 / 90, 0.01);
}

// Between two blocks it is known how long a thread waited for a CPU.
TEST(IntervalChains, AThreadThatIsQueuedDoesNotRun) {
  PastBlock second = past(2, 150, 180, 0, OFFCPUD_BLOCKED_SLEEP);
  second.queued_ns = 30 * kMs;  // between 100 and 150
  PastBlock until = past(2, 200, 200, 0);
  until.queued_ns = 5 * kMs;
  until.skipped_ns = 4 * kMs;
  const ChainedBlock wait = with_past(block(1, 100, 200, 2), {past(2, 60, 100, 1), second, until});
  std::vector<ChainedBlock> others;
  add_habit(others, 2, 0, WaitFor::Timer, OFFCPUD_BLOCKED_SLEEP);
  EXPECT_EQ(divided(wait, others),
            (Pieces{{"has CPU", 20 + 11}, {"queued", 35}, {"unknown", 4}, {"timer 0 waits", 30}}));
}

// Of a part of such a time a share is taken, within what is possible.
TEST(IntervalChains, APartOfATimeIsQueuedInProportion) {
  PastBlock next = past(2, 180, 190, 0);
  next.queued_ns = 50 * kMs;  // between 80 and 180, of which 80 are within the wait
  const ChainedBlock wait = with_past(block(1, 100, 190, 2), {past(2, 70, 80, 0), next});
  const IntervalChains chains({wait}, 0);
  std::map<IntervalChains::End, IntervalChains::Piece> pieces;
  chains.divide(wait, wait.since_ns,
                [&](const IntervalChains::Piece& piece) { pieces[piece.end] = piece; });
  const IntervalChains::Piece& queued = pieces[IntervalChains::End::Queued];
  EXPECT_NEAR(queued.ns, 40.0 * kMs, 1);
  EXPECT_NEAR(queued.variance_ns2, 20.0 * 20 / 12 * kMs * kMs, 1e6) << "it is from 30 to 50 ms";
  EXPECT_NEAR(pieces[IntervalChains::End::OnCpu].ns, 40.0 * kMs, 1);
  EXPECT_NEAR(pieces[IntervalChains::End::OnCpu].variance_ns2, queued.variance_ns2, 1);
}

// Counters that were read at different moments may claim more than there was.
TEST(IntervalChains, NeverMoreIsQueuedThanThereIsTime) {
  PastBlock next = past(2, 150, 190, 0, OFFCPUD_BLOCKED_SLEEP);
  next.queued_ns = ~0U * std::uint64_t{1024};
  next.skipped_ns = 20 * kMs;
  const ChainedBlock wait = with_past(block(1, 100, 190, 2), {past(2, 70, 100, 0), next});
  std::vector<ChainedBlock> others;
  add_habit(others, 2, 0, WaitFor::Timer, OFFCPUD_BLOCKED_SLEEP);
  EXPECT_EQ(divided(wait, others),
            (Pieces{{"queued", 30}, {"unknown", 20}, {"timer 0 waits", 40}}));
}

TEST(IntervalChains, AnAccountOfAnotherThreadTellsNothing) {
  PastBlock other = past(2, 110, 180, 3);
  other.tgid = 77;
  const ChainedBlock wait = with_past(block(1, 100, 200, 2), {other, past(9, 110, 180, 3)});
  EXPECT_EQ(divided(wait, {}), (Pieces{{"runs", 100}}));
}

TEST(IntervalChains, ManyPiecesBeforeAnAccountLeaveItUnknown) {
  std::vector<ChainedBlock> others;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    others.push_back(block(2, 1'000 + 10 * i, 1'005 + 10 * i, 0, WaitFor::Storage));
  }
  const ChainedBlock wait = with_past(block(1, 1'000, 11'000, 2),
                                      {past(2, 10'500, 10'600, 0), past(2, 10'700, 10'800, 0)});
  EXPECT_NEAR(divided(wait, others).at("storage 0 waits"), 256 * 5, 1);
  EXPECT_NEAR(divided(wait, others).at("runs"), 256 * 5, 11);
}

TEST(IntervalChains, OnlyWhatAnAccountSaysIsSure) {
  const ChainedBlock wait = with_past(block(1, 100, 200, 2), {past(2, 150, 180, 0)});
  const IntervalChains chains({wait}, 0);
  std::map<ChainEnd, double> pieces;
  chains.divide(wait, wait.since_ns,
                [&](const IntervalChains::Piece& piece) { pieces[piece.end] += piece.ns / kMs; });
  EXPECT_NEAR(pieces.at(ChainEnd::Runs), 50, 0.01);
  EXPECT_NEAR(pieces.at(ChainEnd::OnCpu), 20, 0.01);
}

// 2 serves one request at a time. It had been at work since 60 when 1 asked it at 100.
ChainedBlock wait_at_busy_server(PastBlocks later = {}) {
  later.insert(later.begin(), past(2, 40, 60, 9));
  return with_past(block(1, 100, 200, 2), std::move(later));
}

// Waits for work of 2, as those in its account.
std::vector<ChainedBlock> idle_habit() {
  std::vector<ChainedBlock> blocks;
  add_habit(blocks, 2, 9, WaitFor::Work);
  return blocks;
}

// At 170 it answered 7, which had asked before: until then it worked for others.
TEST(IntervalChains, AServerWorksForOthersUntilItHasAnsweredThem) {
  std::vector<ChainedBlock> others = idle_habit();
  others.push_back(block(7, 55, 130, 2));
  others.push_back(block(8, 90, 170, 2));
  others.push_back(block(7, 180, 300, 2));
  EXPECT_EQ(divided(wait_at_busy_server(), others),
            (Pieces{{"busy has CPU", 70}, {"has CPU", 30}}));
}

TEST(IntervalChains, WhatItDidForOthersIsFollowed) {
  std::vector<ChainedBlock> others = idle_habit();
  add_habit(others, 2, 3, WaitFor::Answer);
  others.push_back(block(8, 90, 170, 2));
  EXPECT_EQ(divided(wait_at_busy_server({past(2, 120, 160, 3), past(2, 180, 190, 3)}), others),
            (Pieces{{"busy has CPU", 30},
                    {"busy answer 3 runs", 40},
                    {"has CPU", 20},
                    {"answer 3 runs", 10}}));
}

// Also of a server of a server.
TEST(IntervalChains, WhoIsBusyMayBeFurtherAway) {
  std::vector<ChainedBlock> others = idle_habit();
  ChainedBlock asks = wait_at_busy_server();
  asks.past = nullptr;
  asks.tid = asks.tgid = 4;
  others.push_back(asks);
  others.push_back(block(8, 90, 170, 2));
  const ChainedBlock wait = with_past(block(1, 95, 205, 4), {past(2, 40, 60, 9)});
  EXPECT_EQ(divided(wait, others),
            (Pieces{{"answer 2 busy has CPU", 70}, {"answer 2 has CPU", 30}, {"runs", 10}}));
}

// Nobody knows what for it worked first, or what it waited for meanwhile: it may have passed on the
// request. What is told is as if it had worked for this one.
TEST(IntervalChains, AServerThatMayHaveIdledMeanwhileIsNotSaidToBeBusy) {
  std::vector<ChainedBlock> others = idle_habit();
  others.push_back(block(8, 90, 170, 2));
  const ChainedBlock woken = with_past(block(1, 100, 200, 2), {past(2, 40, 100, 9)});
  EXPECT_EQ(divided(woken, others), (Pieces{{"has CPU", 100}})) << "its request woke the server";
  const ChainedBlock idled = wait_at_busy_server({past(2, 110, 120, 9)});
  EXPECT_EQ(divided(idled, others), (Pieces{{"has CPU", 90}, {"work 9 idle", 10}}));
  const ChainedBlock unknown = wait_at_busy_server({past(2, 110, 120, 5, OFFCPUD_BLOCKED_PIPE)});
  EXPECT_EQ(divided(unknown, others), (Pieces{{"has CPU", 90}, {"unknown 0 waits", 10}}));
  add_habit(others, 2, 3, WaitFor::Answer);
  const ChainedBlock late = with_past(block(1, 100, 200, 2), {past(2, 110, 120, 3)});
  EXPECT_EQ(divided(late, others).count("busy has CPU"), 0U) << "its account begins too late";
  EXPECT_EQ(divided(block(1, 100, 200, 2), others), (Pieces{{"runs", 100}})) << "it has none";
}

// An event loop that passes requests on answers others while it waits for whom it has asked.
TEST(IntervalChains, WhoWaitsForSeveralFilesMayHavePassedTheRequestOn) {
  std::vector<ChainedBlock> others = idle_habit();
  add_habit(others, 2, 3, WaitFor::Answer, OFFCPUD_BLOCKED_POLL);
  others.push_back(block(8, 90, 170, 2));
  EXPECT_EQ(divided(wait_at_busy_server({past(2, 110, 160, 3, OFFCPUD_BLOCKED_POLL)}), others),
            (Pieces{{"has CPU", 50}, {"answer 3 runs", 50}}));
}

TEST(IntervalChains, BlocksTooShortToBeKeptMayHaveBeenForWork) {
  std::vector<ChainedBlock> others = idle_habit();
  add_habit(others, 2, 3, WaitFor::Answer);
  others.push_back(block(8, 90, 170, 2));
  PastBlock asks = past(2, 180, 190, 3);
  EXPECT_EQ(divided(wait_at_busy_server({asks}), others).at("busy has CPU"), 70);
  asks.skipped_ns = 15'000;
  EXPECT_EQ(divided(wait_at_busy_server({asks}), others).count("busy has CPU"), 0U);
}

// It was asked at 100 and has worked on that ever since; the window begins at 120.
TEST(IntervalChains, WhoWasIdleWhenTheWaitBeganIsNotBusyLater) {
  std::vector<ChainedBlock> others = idle_habit();
  others.push_back(block(8, 90, 170, 2));
  const ChainedBlock wait = with_past(block(1, 100, 200, 2), {past(2, 40, 100, 9)});
  others.push_back(wait);
  const IntervalChains chains(std::move(others), 0);
  chains.divide(wait, 120 * kMs, [](const IntervalChains::Piece& piece) {
    EXPECT_FALSE(piece.busy_after);
    EXPECT_EQ(piece.ns, 80 * kMs);
  });
}

TEST(IntervalChains, AnAnswerBeforeItIdledEndsWhatItDidForOthers) {
  std::vector<ChainedBlock> others = idle_habit();
  others.push_back(block(8, 90, 110, 2));
  others.push_back(block(7, 90, 170, 2));
  EXPECT_EQ(divided(wait_at_busy_server({past(2, 112, 120, 9)}), others),
            (Pieces{{"busy has CPU", 10}, {"has CPU", 82}, {"work 9 idle", 8}}));
}

// One write to a disk for many: they all have waited for it. But what had begun before somebody
// asked was not for him.
TEST(IntervalChains, AnswersThatAreGivenTogetherAreOne) {
  const auto just_before = [](std::uint64_t until, std::uint64_t before_ns) {
    ChainedBlock answered = block(8, 90, until, 2);
    answered.ended_ns -= before_ns;
    return answered;
  };
  std::vector<ChainedBlock> others = idle_habit();
  others.push_back(block(8, 90, 130, 2));
  others.push_back(just_before(200, 90'000));
  others.push_back(just_before(200, 20'000));
  EXPECT_EQ(divided(wait_at_busy_server(), others),
            (Pieces{{"busy has CPU", 30}, {"has CPU", 70}}));
  others = idle_habit();
  others.push_back(just_before(200, 50'000));
  const Pieces pieces = divided(wait_at_busy_server(), others);
  EXPECT_NEAR(pieces.at("busy has CPU"), 99.95, 1e-6) << "a short request behind a long one";
}

// Of a part that begins later nobody knows which answer was the first.
TEST(IntervalChains, AnswersThatAreGivenTogetherAreOneInTheRestOfAWait) {
  std::vector<ChainedBlock> others = idle_habit();
  ChainedBlock answered = block(8, 90, 200, 2);
  answered.ended_ns -= 50'000;
  others.push_back(answered);
  const ChainedBlock wait = wait_at_busy_server();
  others.push_back(wait);
  const IntervalChains chains(std::move(others), 0);
  chains.divide(wait, 120 * kMs,
                [](const IntervalChains::Piece& piece) { EXPECT_FALSE(piece.busy_after); });
}

// Locks and barriers are handed over within a process, and work for a lock is not a request.
TEST(IntervalChains, OnlyAnswersOfOtherProcessesAreOtherRequests) {
  std::vector<ChainedBlock> others = idle_habit();
  others.push_back(block(7, 90, 150, 2, WaitFor::Lock));
  ChainedBlock own = block(8, 90, 170, 2);
  own.tgid = 2;
  others.push_back(own);
  ChainedBlock reused = block(9, 90, 180, 2);
  reused.peer.process.tgid = 77;
  others.push_back(reused);
  EXPECT_EQ(divided(wait_at_busy_server(), others), (Pieces{{"has CPU", 100}}));
  others.push_back(block(6, 90, 170, 2));
  ChainedBlock lock = wait_at_busy_server();
  lock.wait_for = WaitFor::Lock;
  EXPECT_EQ(divided(lock, others), (Pieces{{"has CPU", 100}}));
}

// What is left of a time is as unsure as what was taken off.
TEST(IntervalChains, TellsHowSureItIs) {
  const ChainedBlock wait = block(1, 100, 200, 2);
  const IntervalChains chains({wait, block(2, 110, 114, 0, WaitFor::Storage, 10)}, 0);
  std::map<IntervalChains::End, IntervalChains::Piece> pieces;
  chains.divide(wait, wait.since_ns,
                [&](const IntervalChains::Piece& piece) { pieces[piece.end] = piece; });
  const double variance = 10.0 * 9 * 4 * 4 * kMs * kMs;
  EXPECT_DOUBLE_EQ(pieces[IntervalChains::End::Waits].variance_ns2, variance);
  const IntervalChains::Piece& runs = pieces[IntervalChains::End::Runs];
  EXPECT_DOUBLE_EQ(runs.variance_ns2, variance);
  EXPECT_DOUBLE_EQ(runs.watched_ns, 100.0 * kMs);
  EXPECT_EQ(runs.tgid, 2U);
}

}  // namespace
}  // namespace offcpud
