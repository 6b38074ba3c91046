// SPDX-License-Identifier: Apache-2.0
// Who still waits, who does not any more, and since when.
#include <gmock/gmock.h>

#include "pipeline/past_holders.h"
#include "support/thread_walks.h"
#include "unit/api/why_fixture.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::kSecond;
using ::testing::HasSubstr;

class WhyPastTest : public test::WhyHandlerTest {
 protected:
  // All that db.service waited for is of process 12, in each of the last windows but `quiet`.
  void wait_as_process_12(std::size_t quiet = 0) {
    WaitWindow window = *view_.waits;
    window.sites.front().time.ns = 40.0 * kSecond;
    view_.waits = std::make_shared<const WaitWindow>(std::move(window));
    for (std::size_t i = 0; i < quiet; ++i) {
      auto& last = view_.site_history[view_.site_history.size() - 1 - i];
      auto empty = std::make_shared<SiteWindow>(*last);
      empty->sites.clear();
      last = empty;
    }
  }
  json verdict_on_db() {
    const json answer = ask_json({{"window", "1min"}});
    for (const json& verdict : answer["verdicts"]) {
      if (verdict["unit"] == "db.service") return verdict;
    }
    ADD_FAILURE() << answer;
    return {};
  }
};

// Its waits are in the window, but a walk after it does not find it.
TEST_F(WhyPastTest, WhatAProcessThatHasEndedWaitedForIsPast) {
  wait_as_process_12();
  view_.walk = test::walk_at(999, {test::thread(77).running(5)});
  const json verdict = verdict_on_db();
  EXPECT_EQ(verdict["over"], true);
  EXPECT_EQ(verdict["over_within_seconds"], 10) << "since the window began";
  EXPECT_THAT(verdict["sentence"].get<std::string>(),
              HasSubstr(", until at most 10 s ago: 4.0 threads waited for a lock (row-lock)"));
  EXPECT_EQ(ask_json({{"window", "1min"}})["verdicts"][0]["unit"], "web.service")
      << "what lasts comes first";
}

TEST_F(WhyPastTest, AZombieHasEnded) {
  wait_as_process_12();
  view_.walk = test::walk_at(999, {test::thread(12).started(5e-9).ended()});
  EXPECT_EQ(verdict_on_db()["over"], true);
}

TEST_F(WhyPastTest, WhatAProcessThatLivesWaitsForLasts) {
  wait_as_process_12();
  view_.walk = test::walk_at(999, {test::thread(12).started(5e-9).running(5)});
  EXPECT_EQ(verdict_on_db()["over"], false);
  view_.walk = test::walk_at(999, {test::thread(12).started(700).running(5)});
  EXPECT_EQ(verdict_on_db()["over"], true) << "another process has its number";
  view_.walk = nullptr;
  EXPECT_EQ(verdict_on_db()["over"], false) << "nobody knows";
}

// The walk is older than the process.
TEST_F(WhyPastTest, AProcessThatHasJustBegunHasNotEnded) {
  wait_as_process_12();
  WaitWindow window = *view_.waits;
  window.sites.front().process_start_ns = 4'000'000 * kSecond;
  view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  view_.walk = test::walk_at(999, {test::thread(77).running(5)});
  EXPECT_EQ(verdict_on_db()["over"], false);
}

// Short waits are seen by chance, and a pause is no end.
TEST_F(WhyPastTest, WhatWasNotSeenForSomeSecondsIsPast) {
  wait_as_process_12(1);
  const json verdict = verdict_on_db();
  EXPECT_EQ(verdict["over"], true);
  EXPECT_EQ(verdict["over_within_seconds"], 20);
  for (auto& window : view_.site_history) {
    auto shorter = std::make_shared<SiteWindow>(*window);
    shorter->end = shorter->begin + 4s;
    window = shorter;
  }
  auto last = std::make_shared<SiteWindow>(*view_.site_history.back());
  last->begin = view_.site_history[view_.site_history.size() - 2]->end;
  last->end = last->begin + 4s;
  view_.site_history.back() = last;
  EXPECT_EQ(verdict_on_db()["over"], false) << "4 s";
}

TEST_F(WhyPastTest, AUnitWhoseCgroupsAreRemovedIsGone) {
  removed_ = {"/system.slice/db.service", "/system.slice/db.service/worker"};
  const json verdict = verdict_on_db();
  EXPECT_EQ(verdict["over"], true);
  EXPECT_THAT(verdict["sentence"].get<std::string>(),
              ::testing::StartsWith(
                  "db.service (postgres, pid 12), gone by now, until at most 10 s ago: "));
  removed_ = {"/system.slice/db.service"};
  EXPECT_EQ(verdict_on_db()["over"], false) << "one of its cgroups lives";
}

TEST_F(WhyPastTest, WaitsForACpuThatAreOverArePast) {
  auto quiet = std::make_shared<WaitStep>(*view_.history.back());
  quiet->subjects.clear();
  quiet->waits.clear();
  auto before = std::make_shared<WaitStep>(*view_.history.back());
  before->begin -= 10s;
  before->end -= 10s;
  view_.history = {before, quiet};
  const json answer = ask_json({{"unit", "web.service"}});
  EXPECT_EQ(answer["units"][0]["causes"][0]["for"], "cpu");
  EXPECT_EQ(answer["units"][0]["causes"][0]["over"], true);
}

TEST_F(WhyPastTest, WhoWaitsIsNamedUnlessTheUnitSaysIt) {
  const auto named = [this](const char* comm, std::uint32_t other_pid, const char* other) {
    WaitWindow window = *view_.waits;
    window.sites.resize(1);
    window.sites[0].comm = comm;
    window.sites.push_back(window.sites[0]);
    window.sites[1].pid = other_pid;
    window.sites[1].comm = other;
    view_.waits = std::make_shared<const WaitWindow>(std::move(window));
    const std::string sentence = verdict_on_db()["sentence"];
    return sentence.substr(0, sentence.find(':'));
  };
  EXPECT_EQ(named("postgres", 12, "postgres"), "db.service (postgres, pid 12)");
  EXPECT_EQ(named("postgres", 13, "postgres"), "db.service (postgres)");
  EXPECT_EQ(named("postgres", 13, "tar"), "db.service (postgres and others)");
  EXPECT_EQ(named("db", 12, "db"), "db.service");
  EXPECT_EQ(named("", 12, ""), "db.service (postgres, pid 12)") << "as the walk has it";
  EXPECT_EQ(ask_json({{"window", "1min"}}, false).dump().find("postgres"), std::string::npos)
      << "it is a detail";
}

TEST_F(WhyPastTest, OfALockWithoutAHolderItSaysWhatWasSeen) {
  WaitWindow window = *view_.waits;
  window.unheld = {{.cgroup = "/system.slice/db.service", .names_nobody = 0, .changes_hands = 2},
                   {.cgroup = "/system.slice/db.service", .is_gil = true, .names_nobody = 9},
                   {.cgroup = "/system.slice/db.service/worker", .changes_hands = 1}};
  view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  view_.peer_history.clear();
  auto unknown = std::make_shared<PeerWindow>();
  unknown->begin = view_.taken - 60s;
  unknown->end = view_.taken;
  view_.peer_history = {unknown};
  EXPECT_EQ(verdict_on_db()["because"],
            "it is held by many in turn: nobody held it at both looks, during 3 waits");
}

class WhyPastHoldersTest : public WhyPastTest {
 protected:
  // As the last look had it; nobody waits any more.
  void it_is_over() {
    auto then = std::make_shared<PeerWindow>(*view_.peer_history.back());
    then->holders = past_holders(view_.waits, view_.deadlocks.get());
    view_.peer_history.back() = then;
    WaitWindow quiet = *view_.waits;
    quiet.held.clear();
    quiet.blocks.clear();
    view_.waits = std::make_shared<const WaitWindow>(std::move(quiet));
    view_.deadlocks = nullptr;
  }
  std::string sentence() { return verdict_on_db()["sentence"]; }
};

TEST_F(WhyPastHoldersTest, WhoHeldTheLockIsToldAsPast) {
  wait_as_process_12(1);
  holder_waits(WaitFor::Timer, "sleep");
  it_is_over();
  EXPECT_THAT(sentence(),
              HasSubstr(" threads waited for a lock (row-lock, mutex of the kernel) that thread "
                        "writer (tid 500 of auditor, pid 77) of audit.service held; that thread "
                        "slept"));
  EXPECT_THAT(test::body_of(ask({{"window", "1min"}, {"format", "text"}})),
              HasSubstr(": thread writer (tid 500 of auditor) held a mutex of the kernel for 1 "
                        "thread\n"));
  EXPECT_EQ(ask_json({{"window", "1min"}}, false).dump().find("writer"), std::string::npos)
      << "it is a detail";
}

// Two threads waited for the GIL of another program of the unit, when the lock was held.
TEST_F(WhyPastHoldersTest, WhoHeldTheGilHeldNoOtherLock) {
  wait_as_process_12(1);
  hold();
  WaitWindow window = *view_.waits;
  for (const std::uint32_t tid : {14U, 15U}) {
    HeldWait gil = held(501);
    LockHolder by = *gil.holder;
    by.kind = LockKind::PythonGil;
    gil.holder = std::make_shared<const LockHolder>(by);
    gil.tid = tid;
    window.held.push_back(gil);
  }
  view_.waits = std::make_shared<const WaitWindow>(std::move(window));
  it_is_over();
  EXPECT_THAT(sentence(), HasSubstr("that thread writer (tid 500 of auditor, pid 77)"));
}

// A later look saw the GIL's holder only.
TEST_F(WhyPastHoldersTest, TheLastHolderOfTheGilDoesNotHideTheEarlierOneOfAnotherLock) {
  wait_as_process_12(1);
  hold();
  it_is_over();
  HeldWait gil = held(501);
  LockHolder by = *gil.holder;
  by.kind = LockKind::PythonGil;
  gil.holder = std::make_shared<const LockHolder>(by);
  auto then = std::make_shared<WaitWindow>(*view_.waits);
  then->held = {gil};
  auto later = std::make_shared<PeerWindow>(*view_.peer_history.back());
  later->holders = past_holders(then, nullptr);
  view_.peer_history.push_back(later);
  EXPECT_THAT(sentence(), HasSubstr("that thread writer (tid 500 of auditor, pid 77)"));
}

TEST_F(WhyPastHoldersTest, ADeadlockIsStillCalledOne) {
  wait_as_process_12(1);
  hold();
  HeldWait back = held(13);
  back.tid = 500;
  view_.deadlocks = std::make_shared<const std::vector<Deadlock>>(
      std::vector<Deadlock>{{held(500), std::move(back)}});
  it_is_over();
  EXPECT_THAT(sentence(), HasSubstr("; a deadlock of "));
  EXPECT_THAT(sentence(), HasSubstr(": none of them could go on"));
}

// Who holds a lock may change while a unit waits.
TEST_F(WhyPastHoldersTest, WhatLastsIsToldByTheLastLookOnly) {
  hold();
  it_is_over();
  EXPECT_THAT(sentence(), ::testing::Not(HasSubstr("writer")));
}

// Windows of the last minute: 60 s before that are too long ago, but for the look that began it.
TEST_F(WhyPastHoldersTest, OnlyLooksWithinTheWindowCount) {
  wait_as_process_12(1);
  hold();
  it_is_over();
  auto quiet = std::make_shared<PeerWindow>(*view_.peer_history.back());
  quiet->holders = nullptr;
  view_.peer_history.push_back(quiet);
  EXPECT_THAT(sentence(), HasSubstr("writer"));
  view_.peer_history.push_back(quiet);
  EXPECT_THAT(sentence(), ::testing::Not(HasSubstr("writer")));
}

TEST_F(WhyPastHoldersTest, AnEarlierTimeHasTheHoldersOfThen) {
  hold();
  it_is_over();
  std::swap(view_.peer_history.front(), view_.peer_history.back());
  for (auto& window : view_.peer_history) {
    auto moved = std::make_shared<PeerWindow>(*window);
    moved->begin = view_.taken - (window == view_.peer_history.front() ? 120s : 60s);
    moved->end = moved->begin + 60s;
    window = moved;
  }
  const json answer = ask_json({{"window", "1min"}, {"to", "-1min"}});
  EXPECT_THAT(answer["verdicts"][0]["sentence"].get<std::string>(), HasSubstr("thread writer"));
}

// As stalls have it: its age now, not at the end of the window.
TEST_F(WhyPastTest, AWaitThatLastsIsAsOldAsItIsNow) {
  for (auto& window : view_.site_history) {
    auto earlier = std::make_shared<SiteWindow>(*window);
    earlier->begin -= 4s;
    earlier->end -= 4s;
    earlier->sites[0].lasting = 3;
    earlier->sites[0].oldest = {.ns = 8 * kSecond};
    window = earlier;
  }
  const json lock = ask_json({{"unit", "db.service"}, {"window", "1min"}})["units"][0]["causes"][0];
  EXPECT_EQ(lock["sites"][0]["lasting"], 3);
  EXPECT_NEAR(lock["sites"][0]["oldest_seconds"].get<double>(), 12, 1e-6);
}

}  // namespace
}  // namespace offcpud
