// SPDX-License-Identifier: Apache-2.0
#include "base/heartbeat.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/thread_watch.h"
#include "support/fake_clock.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

class HeartbeatTest : public ::testing::Test {
 protected:
  void work_for(std::chrono::seconds time) {
    beat_.begin("writing", "/a");
    clock_.advance(time);
    beat_.end();
  }
  FakeClock clock_;
  Heartbeat beat_{clock_, "writer", {.stuck = 30s, .hopeless = 5min}};
};

TEST_F(HeartbeatTest, AnIdleThreadIsNeverStuck) {
  clock_.advance(24h);
  EXPECT_FALSE(beat_.state().stuck);
  EXPECT_EQ(beat_.state().busy, std::nullopt);
  work_for(1s);
  clock_.advance(24h);
  EXPECT_FALSE(beat_.state().stuck);
  EXPECT_EQ(beat_.state().busy, std::nullopt);
}

TEST_F(HeartbeatTest, TellsWhatItIsAtAndForHowLong) {
  beat_.begin("writing", "/var/a");
  clock_.advance(7s);
  EXPECT_EQ(beat_.state().name, "writer");
  EXPECT_EQ(beat_.state().work, "writing");
  EXPECT_EQ(beat_.state().subject, "/var/a");
  EXPECT_EQ(beat_.state().busy, 7s);
  beat_.at("closing");
  clock_.advance(1s);
  EXPECT_EQ(beat_.state().work, "closing");
  EXPECT_EQ(beat_.state().subject, "");
  EXPECT_EQ(beat_.state().busy, 8s) << "the time of the piece goes on";
  beat_.begin("another");
  EXPECT_EQ(beat_.state().busy, 0s);
}

TEST_F(HeartbeatTest, IsStuckBeyondTheLimitAndHopelessLater) {
  beat_.begin("writing");
  clock_.advance(30s);
  EXPECT_FALSE(beat_.state().stuck);
  clock_.advance(1ms);
  EXPECT_TRUE(beat_.state().stuck);
  EXPECT_FALSE(beat_.state().hopeless());
  clock_.advance(270s);
  EXPECT_TRUE(beat_.state().hopeless());
}

TEST_F(HeartbeatTest, OfAThreadWithoutHelpNothingIsHopeless) {
  Heartbeat disk(clock_, "disk", {.stuck = 30s, .hopeless = {}});
  disk.begin("writing");
  clock_.advance(24h);
  EXPECT_TRUE(disk.state().stuck);
  EXPECT_FALSE(disk.state().hopeless());
}

TEST_F(HeartbeatTest, StaysStuckUntilALimitHasPassedWithoutAnotherLongPiece) {
  work_for(31s);
  EXPECT_TRUE(beat_.state().stuck);
  EXPECT_EQ(beat_.state().longest, 31s);
  EXPECT_EQ(beat_.state().work, "writing");
  clock_.advance(29s);
  work_for(1s);
  EXPECT_TRUE(beat_.state().stuck);
  clock_.advance(1ms);
  EXPECT_FALSE(beat_.state().stuck);
}

TEST_F(HeartbeatTest, ALongPieceThatTheNextOneEndsCounts) {
  beat_.begin("writing");
  clock_.advance(31s);
  beat_.begin("closing");
  EXPECT_TRUE(beat_.state().stuck);
  EXPECT_EQ(beat_.state().work, "writing");
  EXPECT_EQ(beat_.state().busy, 0s);
  EXPECT_EQ(sentence_of(beat_.state(), true),
            "thread writer was writing for 31 s until a moment ago");
  clock_.advance(30s + 1ms);
  beat_.begin("closing");
  clock_.advance(1s);
  EXPECT_TRUE(beat_.state().stuck) << "that one was too long, too";
}

// One piece after the other that takes just too long is one time of being stuck, not many.
TEST_F(HeartbeatTest, DoesNotFlapWhenEveryPieceTakesTooLong) {
  int changes = 0;
  bool stuck = false;
  for (int piece = 0; piece < 20; ++piece) {
    beat_.begin("writing");
    for (int second = 0; second < 31; ++second) {
      clock_.advance(1s);
      if (beat_.state().stuck != stuck) ++changes;
      stuck = beat_.state().stuck;
    }
    beat_.end();
  }
  EXPECT_EQ(changes, 1);
  EXPECT_TRUE(stuck);
}

TEST_F(HeartbeatTest, KeepsTheEndOfALongSubjectAndItsTextValid) {
  beat_.begin("reading", std::string(200, 'a') + "/libc.so.6");
  EXPECT_EQ(beat_.state().subject.size(), Heartbeat::kLongestSubject);
  EXPECT_TRUE(beat_.state().subject.ends_with("a/libc.so.6"));
  beat_.begin("reading", "\xff/b");
  EXPECT_EQ(beat_.state().subject, "\xef\xbf\xbd/b");
}

// What is read is of one piece of work, while the thread goes from one to the next.
TEST_F(HeartbeatTest, NeverMixesTwoPieces) {
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; !done; ++i)
      beat_.begin(i % 2 == 0 ? "even" : "odd", i % 2 == 0 ? "0" : "111111111");
  });
  int seen = 0;
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (seen < 1'000 && std::chrono::steady_clock::now() < end) {
    const ThreadState state = beat_.state();
    if (state.subject.empty()) continue;  // it was too fast
    ++seen;
    EXPECT_EQ(state.subject, state.work == "even" ? "0" : "111111111");
  }
  done = true;
  writer.join();
  EXPECT_GT(seen, 0);
}

TEST(ThreadWatch, TellsOfTheWorstOfThreadsOfOneName) {
  FakeClock clock;
  ThreadWatch watch(clock);
  const auto main = watch.add("main", {.stuck = 30s});
  const auto one = watch.add("http", {.stuck = 30s, .hopeless = 60s});
  const auto two = watch.add("http", {.stuck = 30s, .hopeless = 60s});
  const auto push = watch.add("push", {.stuck = 1s, .needed = false});
  EXPECT_EQ(watch.states().size(), 3U);
  EXPECT_FALSE(watch.stuck());
  two->begin("answering", "/a");
  push->begin("pushing");
  clock.advance(31s);
  one->begin("answering", "/b");
  ASSERT_TRUE(watch.stuck());
  EXPECT_EQ(sentence_of(*watch.stuck(), true), "thread http has been answering (/a) for 31 s");
  EXPECT_EQ(sentence_of(*watch.stuck(), false), "thread http has been answering for 31 s");
  EXPECT_FALSE(watch.hopeless());
  clock.advance(30s);
  EXPECT_TRUE(watch.hopeless());
  two->end();
  EXPECT_EQ(watch.stuck()->name, "http") << "the other one by now";
  one->end();
  EXPECT_EQ(sentence_of(*watch.stuck(), true),
            "thread http was answering for 1 min 1 s until a moment ago");
  EXPECT_FALSE(watch.hopeless());
  clock.advance(31s);
  EXPECT_FALSE(watch.stuck()) << "nobody depends on push";
  EXPECT_TRUE(watch.states().back().stuck) << "but it is";
  EXPECT_EQ(sentence_of(watch.states().front(), true), "thread main is idle");
}

TEST(PieceOfWork, BeginsAndEndsWithItsBlock) {
  FakeClock clock;
  const auto beat = std::make_shared<Heartbeat>(clock, "a", ThreadLimits{});
  {
    const PieceOfWork piece(beat, "working");
    EXPECT_EQ(beat->state().work, "working");
    EXPECT_TRUE(beat->state().busy);
  }
  EXPECT_FALSE(beat->state().busy);
  const PieceOfWork nobodys(nullptr, "working");
}

}  // namespace
}  // namespace offcpud
