// SPDX-License-Identifier: Apache-2.0
#include "push/snapshot_push.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "support/snapshots.h"
#include "unit/push/silent_server.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

struct Counts {
  std::atomic<int> sent = 0, dropped = 0, rejected = 0, failed = 0;
  std::atomic<std::uint64_t> bytes = 0;

  PushReports reports() {
    return {.ended =
                [this](PushResult result, WallTime) {
                  if (result == PushResult::Sent) ++sent;
                  if (result == PushResult::Dropped) ++dropped;
                  if (result == PushResult::Rejected) ++rejected;
                },
            .failed = [this](PushFailure) { ++failed; },
            .queued = [this](std::uint64_t now) { bytes = now; }};
  }
};

using Kind = IngestOutcome::Kind;

// Does not attend to interruptions.
class ScriptedClient final : public PushClient {
 public:
  using Answer = std::function<IngestOutcome(const PushTarget& target)>;
  explicit ScriptedClient(Answer answer) : answer_(std::move(answer)) {}
  IngestOutcome send(const PushTarget& target, const PushItem& /*item*/) override {
    return answer_(target);
  }
  void interrupt() override {}
  void rearm() override {}

 private:
  Answer answer_;
};

class SnapshotPushTest : public testing::Test {
 protected:
  void submit(int count) {
    for (int i = 0; i < count; ++i) push_.submit(test::ordinary_snapshot());
  }
  template <class Condition>
  static bool comes_true(Condition condition) {
    for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(10ms);
    return condition();
  }

  // With waits of 1 ms to 0.5 s.
  std::unique_ptr<SnapshotPush> scripted(ScriptedClient::Answer answer) {
    return std::make_unique<SnapshotPush>(clock_, counts_.reports(),
                                          std::make_unique<ScriptedClient>(std::move(answer)), 1ms);
  }
  static PushTarget target(const std::string& url) {
    return {.url = url, .series = "a{}", .timeout = 300s};
  }

  SystemClock clock_;
  Counts counts_;
  test::SilentServer silent_;
  SnapshotPush push_{clock_, counts_.reports()};
};

TEST_F(SnapshotPushTest, IsOffWithoutATarget) {
  push_.apply({}, 1U << 20U);
  submit(1);
  EXPECT_EQ(push_.state().url, "");
  EXPECT_EQ(push_.state().queued, 0U);
  EXPECT_TRUE(push_.finish(10s));
  EXPECT_EQ(counts_.dropped, 0);
}

TEST_F(SnapshotPushTest, NobodyWaitsForASilentServer) {
  push_.apply(target(silent_.url()), 1U << 20U);
  const auto begin = clock_.now();
  submit(3);
  EXPECT_EQ(push_.state().queued, 3U);
  EXPECT_TRUE(push_.finish(100ms));
  EXPECT_LT(clock_.now() - begin, 5s);
  EXPECT_EQ(counts_.dropped, 3);
  EXPECT_EQ(counts_.bytes, 0U);
}

TEST_F(SnapshotPushTest, TurningItOffDropsWhatWaits) {
  push_.apply(target(silent_.url()), 1U << 20U);
  submit(3);
  std::this_thread::sleep_for(50ms);  // the first is under way, on most hosts
  push_.apply({}, 1U << 20U);
  EXPECT_TRUE(comes_true([&] { return counts_.dropped == 3; }));
  EXPECT_EQ(push_.state().queued, 0U);
}

TEST_F(SnapshotPushTest, WhatWaitsGoesToANewTargetAtOnce) {
  push_.apply(target(silent_.url()), 1U << 20U);
  submit(2);
  std::this_thread::sleep_for(50ms);
  const PushTarget nowhere = target("http://127.0.0.1:1/ingest");
  push_.apply(nowhere, 1U << 20U);
  EXPECT_TRUE(comes_true([&] { return counts_.failed > 0; })) << "it still waits for the first";
  EXPECT_EQ(push_.state().queued, 2U);
  EXPECT_EQ(counts_.dropped, 0);
  EXPECT_NE(push_.state().last_error, "");
}

TEST_F(SnapshotPushTest, ASmallerQueueDropsTheOldest) {
  const PushTarget nowhere = target("http://127.0.0.1:1/ingest");
  push_.apply(nowhere, 1U << 20U);
  submit(4);
  ASSERT_TRUE(comes_true([&] { return counts_.failed > 0; }));
  const std::uint64_t one = push_.state().queued_bytes / 4;
  push_.apply(nowhere, 2 * one);
  EXPECT_TRUE(comes_true([&] { return push_.state().queued == 2; }));
  EXPECT_EQ(counts_.dropped, 2);
}

TEST_F(SnapshotPushTest, AProfileThatTheServerDoesNotTakeHoldsUpTheNextForTenAttempts) {
  std::atomic<unsigned> attempts = 0;
  const auto push = scripted([&](const PushTarget&) -> IngestOutcome {
    if (++attempts > SnapshotPush::kMostAttempts) return {};
    return {.kind = Kind::TryAgain, .sentence = "503", .may_be_the_profile = true};
  });
  push->apply(target("a"), 1U << 20U);
  push->submit(test::ordinary_snapshot());
  push->submit(test::ordinary_snapshot());
  ASSERT_TRUE(comes_true([&] { return push->state().queued == 0; }));
  EXPECT_EQ(counts_.rejected, 1);
  EXPECT_EQ(counts_.sent, 1);
  EXPECT_EQ(counts_.failed, 10);
  EXPECT_EQ(attempts, 11U);
  EXPECT_EQ(counts_.bytes, 0U);
}

TEST_F(SnapshotPushTest, ItIsNotTheProfileWhenThereIsNoConnection) {
  std::atomic<int> attempts = 0;
  const auto push = scripted([&](const PushTarget&) -> IngestOutcome {
    if (++attempts > 12) return {};
    return {.kind = Kind::TryAgain, .sentence = "no connection"};
  });
  push->apply(target("a"), 1U << 20U);
  push->submit(test::ordinary_snapshot());
  ASSERT_TRUE(comes_true([&] { return push->state().queued == 0; }));
  EXPECT_EQ(counts_.sent, 1);
  EXPECT_EQ(counts_.rejected, 0);
}

TEST_F(SnapshotPushTest, AnotherServerHasTenAttemptsOfItsOwn) {
  std::atomic<int> first = 0, second = 0;
  const auto push = scripted([&](const PushTarget& asked) -> IngestOutcome {
    if (asked.url == "b" && ++second > 9) return {};
    first += asked.url == "a" ? 1 : 0;
    return {.kind = Kind::TryAgain, .sentence = "503", .may_be_the_profile = true};
  });
  push->apply(target("a"), 1U << 20U);
  push->submit(test::ordinary_snapshot());
  ASSERT_TRUE(comes_true([&] { return counts_.failed >= 5; }));
  push->apply(target("b"), 1U << 20U);
  ASSERT_TRUE(comes_true([&] { return push->state().queued == 0; }));
  EXPECT_EQ(counts_.sent, 1);
  EXPECT_EQ(counts_.rejected, 0);
}

TEST_F(SnapshotPushTest, ALateAnswerOfTheServerBeforeIsOfNoAccount) {
  for (const Kind kind : {Kind::Refused, Kind::TryAgain}) {
    std::promise<void> asked, answers;
    const auto push = scripted([&](const PushTarget& whom) -> IngestOutcome {
      if (whom.url == "b") return {};
      asked.set_value();
      answers.get_future().wait();
      return {.kind = kind, .sentence = "of the old one", .retry_after = 3600s};
    });
    push->apply(target("a"), 1U << 20U);
    push->submit(test::ordinary_snapshot());
    asked.get_future().wait();
    push->apply(target("b"), 1U << 20U);
    answers.set_value();
    EXPECT_TRUE(comes_true([&] { return push->state().queued == 0; })) << "it waits for the old";
    EXPECT_EQ(push->state().last_error, "");
  }
  EXPECT_EQ(counts_.sent, 2);
  EXPECT_EQ(counts_.failed, 0);
  EXPECT_EQ(counts_.rejected, 0);
}

}  // namespace
}  // namespace offcpud
