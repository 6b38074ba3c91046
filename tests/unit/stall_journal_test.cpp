// SPDX-License-Identifier: Apache-2.0
#include "stall_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "runtime/message_ids.h"
#include "support/fake_clock.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Stall stall() {
  auto labels = std::make_shared<SubjectLabels>();
  labels->cgroup = "/a.service";
  labels->unit = "a.service";
  Stall stall;
  stall.tid = 1110;
  stall.local_tid = 110;
  stall.local_tgid = 100;
  stall.comm = "worker";
  stall.process_comm = "server";
  stall.labels = labels;
  stall.kind = OFFCPUD_BLOCKED_LOCK;
  stall.duration_ns = 12'345'678'901;
  return stall;
}

WaitDetail futex_wait() {
  WaitDetail detail;
  detail.syscall = 1'000'000;  // no table has it: the number is shown
  detail.futex_address = 0x7f12;
  detail.owner_tid = 1250;
  detail.owner_comm = "holder";
  for (int i = 0; i < 20; ++i) detail.stack.push_back("f" + std::to_string(i) + "+0x1/0x2");
  return detail;
}

std::string field(const StallEntry& entry, std::string_view name) {
  const auto found = std::ranges::find(entry.fields, name, &LogField::name);
  return found == entry.fields.end() ? "(none)" : found->value;
}

std::shared_ptr<const Stall> shared(Stall stall) {
  return std::make_shared<const Stall>(std::move(stall));
}

TEST(StallEntry, OfOneThatBeganSaysWhoWhereAndForWhat) {
  Stall begun = stall();
  begun.detail = futex_wait();
  const StallEntry entry = stall_begun_entry(begun);
  EXPECT_EQ(entry.message,
            "server/worker[100/110] in /a.service is blocked for 12 s: lock, in 1000000, waits "
            "for futex 0x7f12 held by holder[1250]");
  EXPECT_EQ(field(entry, kMessageId), kStallBegunId);
  EXPECT_EQ(field(entry, "tid"), "110");
  EXPECT_EQ(field(entry, "threads"), "1");
  EXPECT_EQ(field(entry, "pid"), "100");
  EXPECT_EQ(field(entry, "unit"), "a.service");
  EXPECT_EQ(field(entry, "reason"), "lock");
  EXPECT_EQ(field(entry, "duration_seconds"), "12.345");
  EXPECT_EQ(field(entry, "waits_for"), "futex 0x7f12 held by holder[1250]");
  EXPECT_THAT(field(entry, "stack"), testing::StartsWith("f0+0x1/0x2 < f1+0x1/0x2 < "));
  EXPECT_THAT(field(entry, "stack"), testing::EndsWith("f7+0x1/0x2"));
}

TEST(StallEntry, SaysWhatItsStackSays) {
  Stall begun = stall();
  begun.kind = OFFCPUD_BLOCKED_POLL;
  begun.wait = std::make_shared<const ExaminedWait>(
      ExaminedWait{.wait_for = WaitFor::Lock,
                   .site = "postgresql-heavyweight-lock",
                   .certain = true,
                   .user = {"epoll_wait [libc.so.6]", "WaitLatch", "ProcSleep"},
                   .kernel = {}});
  const StallEntry entry = stall_begun_entry(begun);
  EXPECT_EQ(entry.message,
            "server/worker[100/110] in /a.service is blocked for 12 s: lock at "
            "postgresql-heavyweight-lock (poll)");
  EXPECT_EQ(field(entry, "for"), "lock");
  EXPECT_EQ(field(entry, "site"), "postgresql-heavyweight-lock");
  EXPECT_EQ(field(entry, "user_stack"), "epoll_wait [libc.so.6] < WaitLatch < ProcSleep");
}

TEST(StallEntry, WhatIsNotKnownIsLeftOut) {
  const StallEntry entry = stall_begun_entry(stall());
  EXPECT_EQ(entry.message, "server/worker[100/110] in /a.service is blocked for 12 s: lock");
  for (const char* name :
       {"syscall", "waits_for", "stack", "woken_by", "for", "site", "user_stack"}) {
    EXPECT_EQ(field(entry, name), "(none)");
  }
}

TEST(StallEntry, OfOneThatEndedSaysWhoWokeIt) {
  Stall ended = stall();
  ended.ended = true;
  ended.ended_at = WallTime(1s);
  ended.woken_from = OFFCPUD_FROM_SAME_CGROUP;
  ended.waker_tid = 9;
  ended.waker_comm = "peer";
  const StallEntry entry = stall_ended_entry(ended);
  EXPECT_EQ(entry.message,
            "server/worker[100/110] in /a.service was blocked for 12 s: lock, woken from "
            "same_cgroup peer[9]");
  EXPECT_EQ(field(entry, kMessageId), kStallEndedId);
  EXPECT_EQ(field(entry, "woken_by"), "same_cgroup peer[9]");
}

TEST(StallEntry, AnEndThatWasNotSeenIsNotInvented) {
  Stall ended = stall();
  ended.ended = true;
  EXPECT_THAT(stall_ended_entry(ended).message,
              HasSubstr("was blocked for at least 12 s, its end was not seen"));
}

TEST(StallEntry, OneThatIsTakenBackHasNotEnded) {
  Stall idle = stall();
  idle.ended = idle.taken_back = true;
  idle.wait = std::make_shared<const ExaminedWait>(ExaminedWait{
      .wait_for = WaitFor::Work, .site = "pool", .certain = true, .user = {}, .kernel = {}});
  const StallEntry entry = stall_ended_entry(idle);
  EXPECT_EQ(entry.message,
            "server/worker[100/110] in /a.service has been blocked for 12 s but is no stall: "
            "work at pool (lock)");
  EXPECT_EQ(field(entry, kMessageId), kStallEndedId);
  idle.wait = std::make_shared<const ExaminedWait>();
  EXPECT_EQ(stall_ended_entry(idle).message,
            "server/worker[100/110] in /a.service has been blocked for 12 s but is no certain "
            "stall: unknown (lock)");
}

// Whoever names a thread writes to the terminal of whoever reads the log, unless it is stopped
// here.
TEST(StallEntry, IsOneLineWhateverTheNames) {
  Stall hostile = stall();
  hostile.comm = "\x1b[2J\n";
  hostile.process_comm = "\r";
  hostile.detail = futex_wait();
  hostile.detail->owner_comm = "\x07";
  hostile.detail->file = "/a\nb";
  hostile.detail->stack = {"f\x1b"};
  const StallEntry entry = stall_begun_entry(hostile);
  std::string all = entry.message;
  for (const LogField& each : entry.fields) all += each.value;
  EXPECT_TRUE(std::none_of(all.begin(), all.end(), [](unsigned char c) { return c < 0x20; }))
      << all;
  EXPECT_THAT(entry.message, HasSubstr("\\x1b[2J\\x0a"));
}

TEST(StallJournal, LogsBeginAndEnd) {
  const FakeClock clock;
  StallJournal journal(clock);
  Stall ended = stall();
  ended.ended = true;
  testing::internal::CaptureStderr();
  journal.record({.begun = {shared(stall())}, .ended = {shared(ended)}});
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("is blocked for"));
  EXPECT_THAT(log, HasSubstr("was blocked for"));
}

TEST(StallJournal, OneThatIsOverAlreadyIsOneLine) {
  const FakeClock clock;
  StallJournal journal(clock);
  Stall ended = stall();
  ended.ended = true;
  testing::internal::CaptureStderr();
  journal.record({.begun = {shared(ended)}, .ended = {shared(ended)}});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("is blocked for")));
}

std::shared_ptr<const Stall> at_mutex(std::uint32_t tid, std::uint64_t futex) {
  static const auto wait = std::make_shared<const ExaminedWait>(ExaminedWait{
      .wait_for = WaitFor::Lock, .site = "mutex", .certain = true, .user = {}, .kernel = {}});
  Stall waiter = stall();
  waiter.tid = waiter.local_tid = tid;
  waiter.comm = "w" + std::to_string(tid);
  waiter.wait = wait;
  waiter.detail.emplace().futex_address = futex;
  waiter.duration_ns += tid;
  return shared(waiter);
}

std::shared_ptr<const Stall> end_of(const std::shared_ptr<const Stall>& stall) {
  Stall ended = *stall;
  ended.ended = true;
  ended.ended_at = WallTime(1s);
  return shared(ended);
}

class Incidents : public testing::Test {
 protected:
  std::string logged(const StallChanges& changes) {
    testing::internal::CaptureStderr();
    journal_.record(changes);
    return testing::internal::GetCapturedStderr();
  }

  FakeClock clock_;
  StallJournal journal_{clock_};
};

// Each of the two holds what the other waits for.
TEST_F(Incidents, ADeadlockIsOneLine) {
  const StallChanges changes{.begun = {at_mutex(110, 0x10), at_mutex(111, 0x20)}, .ended = {}};
  const std::string log = logged(changes);
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_THAT(log, HasSubstr("server/w111[100/111] in /a.service is blocked for 12 s: lock at "
                             "mutex, waits for futex 0x20; with 1 more: "
                             "server/w110[100/110] (futex 0x10)"));
}

TEST_F(Incidents, AConvoyIsOneLineWhenItBeginsAndWhenItEnds) {
  StallChanges begun, ended;
  for (std::uint32_t tid = 101; tid <= 109; ++tid) begun.begun.push_back(at_mutex(tid, 0x10));
  for (const auto& waiter : begun.begun) ended.ended.push_back(end_of(waiter));
  const std::string first = logged(begun);
  EXPECT_EQ(std::ranges::count(first, '\n'), 1) << first;
  EXPECT_THAT(first, HasSubstr("waits for futex 0x10; with 8 more: server/w101[100/101], "));
  EXPECT_THAT(first, HasSubstr("server/w104[100/104], ..."));
  clock_.advance(StallJournal::kPause);
  const std::string last = logged(ended);
  EXPECT_EQ(std::ranges::count(last, '\n'), 1) << last;
  EXPECT_THAT(last, HasSubstr("w109[100/109] in /a.service was blocked for 12 s: lock at mutex"));
  EXPECT_THAT(last, HasSubstr("; with 8 more: "));
}

// However often threads join and leave it.
TEST_F(Incidents, OfOneCauseThereIsALineAMinute) {
  EXPECT_THAT(logged({.begun = {at_mutex(101, 0x10)}, .ended = {}}), HasSubstr("is blocked for"));
  std::string log;
  for (std::uint32_t tid = 102; tid <= 111; ++tid) {  // 50 s
    clock_.advance(5s);
    log += logged({.begun = {at_mutex(tid, 0x10)}, .ended = {end_of(at_mutex(tid - 1, 0x10))}});
  }
  EXPECT_EQ(log, "");
  log = logged({.begun = {}, .ended = {end_of(at_mutex(111, 0x10))}});
  EXPECT_EQ(log, "") << "its end is told when the minute is over";
  clock_.advance(10s);
  EXPECT_THAT(logged({}), HasSubstr("was blocked for 12 s: lock at mutex; with 10 more: "));
  EXPECT_EQ(logged({}), "");
}

// It began again before its end was told.
TEST_F(Incidents, APauseIsNoEnd) {
  (void)logged({.begun = {at_mutex(101, 0x10)}, .ended = {}});
  clock_.advance(10s);
  EXPECT_EQ(logged({.begun = {}, .ended = {end_of(at_mutex(101, 0x10))}}), "");
  clock_.advance(10s);
  EXPECT_EQ(logged({.begun = {at_mutex(102, 0x10)}, .ended = {}}), "");
  clock_.advance(StallJournal::kPause);
  EXPECT_EQ(logged({}), "") << "it lasts";
  EXPECT_THAT(logged({.begun = {}, .ended = {end_of(at_mutex(102, 0x10))}}),
              HasSubstr("; with 1 more: "));
}

TEST_F(Incidents, AnIncidentThatIsOverBeforeItIsToldIsOneLine) {
  const auto stall = at_mutex(101, 0x10);
  const std::string log = logged({.begun = {end_of(stall)}, .ended = {end_of(stall)}});
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_THAT(log, HasSubstr("was blocked for"));
  clock_.advance(5s);
  const auto next = at_mutex(102, 0x10);
  EXPECT_EQ(logged({.begun = {end_of(next)}, .ended = {end_of(next)}}), "") << "within a minute";
  clock_.advance(StallJournal::kPause);
  EXPECT_THAT(logged({}), HasSubstr("w102[100/102] in /a.service was blocked for"));
}

// Its stack was examined only later, so it had another cause when it began.
TEST_F(Incidents, TheEndBelongsToTheIncidentThatTheStallBegan) {
  Stall early = *at_mutex(101, 0x10);
  early.wait = nullptr;
  EXPECT_THAT(logged({.begun = {shared(early)}, .ended = {}}), HasSubstr("is blocked for"));
  clock_.advance(StallJournal::kPause);
  const std::string log = logged({.begun = {}, .ended = {end_of(at_mutex(101, 0x10))}});
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_EQ(logged({}), "");
}

TEST_F(Incidents, BeyondTheirNumberEachStallHasItsOwnLine) {
  StallChanges many;
  for (std::uint32_t i = 0; i < StallJournal::kMostIncidents; ++i) {
    Stall elsewhere = *at_mutex(i + 1, 0x10);
    auto labels = std::make_shared<SubjectLabels>();
    labels->cgroup = "/" + std::to_string(i);
    elsewhere.labels = labels;
    many.begun.push_back(shared(elsewhere));
  }
  (void)logged(many);
  clock_.advance(StallJournal::kPause);
  (void)logged({});
  const StallChanges more{.begun = {at_mutex(5'001, 0x10), at_mutex(5'002, 0x10)}, .ended = {}};
  const std::string log = logged(more);
  EXPECT_EQ(std::ranges::count(log, '\n'), 2) << log;
}

// Nobody knows that these have one cause.
TEST_F(Incidents, StallsAtAnotherPlaceHaveALineOfTheirOwn) {
  Stall elsewhere = *at_mutex(111, 0x10);
  auto labels = std::make_shared<SubjectLabels>(*elsewhere.labels);
  labels->cgroup = "/b.service";
  elsewhere.labels = labels;
  const std::string log =
      logged({.begun = {at_mutex(110, 0x10), shared(elsewhere), shared(stall()), shared(stall())},
              .ended = {}});
  EXPECT_EQ(std::ranges::count(log, '\n'), 4) << log;
}

TEST(StallJournal, ALineThatIsLeftOutCountsAllItsStalls) {
  FakeClock clock;
  StallJournal journal(clock);
  StallChanges many;
  for (unsigned i = 0; i < StallJournal::kLinesPerMinute; ++i)
    many.begun.push_back(shared(stall()));
  many.begun.push_back(at_mutex(110, 0x10));
  many.begun.push_back(at_mutex(111, 0x20));
  testing::internal::CaptureStderr();
  journal.record(many);
  clock.advance(60s);
  journal.record({});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("2 stalls that began or ended"));
}

TEST(StallJournal, LinesAreLimitedAndTheRestIsCounted) {
  FakeClock clock;
  StallJournal journal(clock);
  StallChanges many;
  for (unsigned i = 0; i < StallJournal::kLinesPerMinute + 7; ++i) {
    many.begun.push_back(shared(stall()));
  }
  testing::internal::CaptureStderr();
  journal.record(many);
  journal.record({});
  std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), StallJournal::kLinesPerMinute);

  clock.advance(60s);
  testing::internal::CaptureStderr();
  journal.record({});
  log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("7 stalls that began or ended were left out of the log"));
}

}  // namespace
}  // namespace offcpud
