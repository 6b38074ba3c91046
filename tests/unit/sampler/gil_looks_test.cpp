// SPDX-License-Identifier: Apache-2.0
#include "sampler/gil_looks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/fake_clock.h"
#include "unit/python/fake_python.h"
#include "unit/sampler/fake_stack_source.h"

namespace offcpud {
namespace {

using testing_python::FakePython;
using testing_python::kProcess;
using namespace std::chrono_literals;

constexpr std::uint32_t kHolder = 41, kInnerHolder = 2;

// A kernel in which the holder lives.
class OwnersOfKernel final : public test::IdleStackSource {
 public:
  Result<std::vector<offcpud_owner>> find_owners(std::span<const std::uint64_t> keys) override {
    ++walks;
    std::vector<offcpud_owner> found;
    for (const std::uint64_t key : keys) {
      if (!lives || key != offcpud_owner_key(kProcess, kInnerHolder)) continue;
      offcpud_owner& owner = found.emplace_back();
      owner.key = key;
      owner.tid = owner.local_tid = kHolder;
      owner.process.tgid = owner.process.local_tgid = kProcess;
    }
    return found;
  }
  bool lives = true;
  int walks = 0;
};

class GilLooksTest : public testing::Test {
 protected:
  GilLooksTest() {
    python_.number_thread(python_.add_thread({}), kInnerHolder);
    gil_ = python_.add_gil();
    held(7);
    find(kProcess);
  }

  void find(std::uint32_t process) {
    const auto library = std::make_shared<MappedFile>();
    library->path = "/opt/lib/" + python_.file_name();
    const LocatedFrame frame{
        .address = FakePython::kBase + 0x900, .file_offset = 0x900, .object = 0, .file = library};
    EXPECT_EQ(processes_.find(waiting(1, process).sample, {&frame, 1}).is,
              PythonProcesses::Is::Python);
  }

  void held(std::uint64_t switches, bool is_held = true) {
    python_.set_gil({.holder = python_.state(), .switches = switches, .is_held = is_held});
  }
  // A thread that is blocked since then, on the condition of the GIL.
  [[nodiscard]] offcpud_blocked_record waiting(std::uint32_t tid,
                                               std::uint32_t process = kProcess) const {
    offcpud_blocked_record record{};
    record.sample.tid = record.sample.local_tid = tid;
    record.sample.tgid = record.sample.local_tgid = process;
    record.sample.process_start_ns = 3;
    record.sample.cgroup_id = 5;
    record.sample.kind = OFFCPUD_BLOCKED_CONDVAR;
    record.sample.ended_ns = static_cast<std::uint64_t>(clock_.now().time_since_epoch().count());
    record.sample.since_ns = record.sample.ended_ns - 1'000;
    record.sample.flags = OFFCPUD_SAMPLE_STACK_LATER | OFFCPUD_SAMPLE_IN_PROGRESS;
    record.regs.di = gil_ + 40;
    return record;
  }
  // A look at a process that finds as many threads that wait as it may have.
  void look_at_crowd(std::uint32_t process) {
    find(process);
    for (std::uint32_t tid = 0; tid < GilLooks::kMostOfProcess; ++tid) {
      looks_.see(waiting(1'000 * process + tid, process));
    }
    looks_.end_look();
  }
  void look(const std::vector<std::uint32_t>& tids = {50}) {
    clock_.advance(1s);
    for (const std::uint32_t tid : tids) looks_.see(waiting(tid));
    looks_.end_look();
  }
  // At a thread that waits for another futex.
  void look_at_others() {
    clock_.advance(1s);
    offcpud_blocked_record other = waiting(60);
    other.regs.di = gil_ + 100;
    looks_.see(other);
    looks_.end_look();
  }
  std::vector<GilWait> take() {
    auto waits = looks_.take(kernel_);
    EXPECT_TRUE(waits);
    return waits ? *waits : std::vector<GilWait>();
  }
  // Of the only wait.
  LockLook only_look() {
    const auto waits = take();
    EXPECT_EQ(waits.size(), 1U);
    if (waits.empty()) return LockLook::SeenOnce;
    EXPECT_EQ(waits[0].holder, nullptr);
    return waits[0].look;
  }

  FakePython python_{12};
  FakeClock clock_;
  OwnersOfKernel kernel_;
  // Processes are their users'.
  std::function<ShareOwner(std::uint32_t)> users_ = [](std::uint32_t process) {
    return ShareOwner(process);
  };
  PythonProcesses processes_{nullptr, python_, clock_, [](const std::string&) {},
                             [this](std::uint32_t process) { return users_(process); }};
  GilLooks looks_{python_, processes_, clock_};
  std::uint64_t gil_ = 0;
};

TEST_F(GilLooksTest, AHolderIsToldOnceTwoLooksFoundIt) {
  look();
  EXPECT_EQ(only_look(), LockLook::SeenOnce);
  EXPECT_EQ(kernel_.walks, 0);
  look();
  const std::uint64_t since = waiting(50).sample.since_ns;
  ASSERT_EQ(take().size(), 1U);
  EXPECT_EQ(take()[0].since_ns, since) << "it may have had it for a moment after the first look";
  look({50, 51});
  const auto waits = take();
  ASSERT_EQ(waits.size(), 2U);
  for (const GilWait& wait : waits) {
    ASSERT_NE(wait.holder, nullptr);
    EXPECT_EQ(wait.holder->kind, LockKind::PythonGil);
    EXPECT_EQ(wait.holder->tid, kHolder);
    EXPECT_EQ(wait.cgroup_id, 5U);
    EXPECT_EQ(wait.local_tgid, kProcess);
  }
  EXPECT_EQ(waits[0].since_ns, since) << "it has waited all the time, in many blocks";
  EXPECT_EQ(waits[0].block_ns, waiting(50).sample.since_ns);
  EXPECT_EQ(waits[1].since_ns, waits[1].block_ns) << "it was not seen before";
}

TEST_F(GilLooksTest, OneThatHadItAgainIsNotTold) {
  look();
  held(9);  // another thread had it, and then it again
  look();
  EXPECT_EQ(only_look(), LockLook::ChangesHands);
  look();
  EXPECT_NE(take().at(0).holder, nullptr) << "since the look before, nobody else had it";
}

// Its thread state may be where that of the last holder was, which does not count as a change.
TEST_F(GilLooksTest, AnotherThreadInTheSamePlaceIsAnotherHolder) {
  look();
  python_.number_thread(0, kInnerHolder + 1);
  look();
  EXPECT_EQ(only_look(), LockLook::ChangesHands);
}

TEST_F(GilLooksTest, OneThatHasGivenItAwaySinceTheLookIsNotTold) {
  look();
  look();
  look();
  const std::uint64_t since = waiting(50).sample.since_ns;
  held(8);
  EXPECT_EQ(only_look(), LockLook::ChangesHands);
  EXPECT_EQ(kernel_.walks, 0);
  EXPECT_TRUE(take().empty()) << "who waited may have had it";
  look();
  const auto waits = take();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_NE(waits[0].holder, nullptr) << "at both reads since";
  EXPECT_GT(waits[0].since_ns, since);
}

TEST_F(GilLooksTest, OneThatIsFreeNamesNobody) {
  held(7, false);
  look();
  EXPECT_EQ(only_look(), LockLook::NamesNobody);
  look();
  EXPECT_EQ(only_look(), LockLook::NamesNobody);
  held(7);
  look();
  EXPECT_EQ(only_look(), LockLook::ChangesHands) << "once a thread and once none";
  held(7, false);
  look();
  EXPECT_EQ(only_look(), LockLook::ChangesHands);
}

TEST_F(GilLooksTest, LooksThatFoundNobodyWaitingDoNotCount) {
  look();
  look_at_others();
  look_at_others();
  held(9);
  look();
  EXPECT_EQ(only_look(), LockLook::SeenOnce);
}

// Its thread runs for a moment after each timeout.
TEST_F(GilLooksTest, WhoWaitedStillWaitsUntilSomebodyElseHasHadIt) {
  look();
  look();
  const std::uint64_t since = waiting(50).sample.since_ns;
  look_at_others();
  const auto waits = take();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].tid, 50U);
  EXPECT_EQ(waits[0].since_ns, since);
  EXPECT_EQ(waits[0].seen_ns, waiting(50).sample.ended_ns);
  EXPECT_NE(waits[0].holder, nullptr);
  held(8);
  look_at_others();
  EXPECT_TRUE(take().empty());
}

// It may have had the GIL between the look and the first read, and wait for something else.
TEST_F(GilLooksTest, WhoWasSeenToWaitBeforeTheFirstReadNeedNotWaitStill) {
  look();
  look_at_others();
  EXPECT_TRUE(take().empty());
}

// As threads do that end because the interpreter does.
TEST_F(GilLooksTest, WhoIsNotSeenForSomeLooksIsForgotten) {
  look();
  look();
  for (unsigned i = 0; i < GilLooks::kMostUnseen; ++i) look_at_others();
  EXPECT_EQ(take().size(), 1U);
  look_at_others();
  EXPECT_TRUE(take().empty());
}

TEST_F(GilLooksTest, AHolderThatHasEndedAndOneThatWaitsAreNotTold) {
  look({50, kHolder});
  look({50, kHolder});
  ASSERT_EQ(take().size(), 1U);
  EXPECT_EQ(take()[0].tid, 50U) << "the other one has got it since";
  kernel_.lives = false;
  const auto waits = take();
  EXPECT_EQ(waits.size(), 2U);
  for (const GilWait& wait : waits) {
    EXPECT_EQ(wait.holder, nullptr);
    EXPECT_EQ(wait.look, LockLook::NamesNobody);
  }
}

TEST_F(GilLooksTest, WhatChangesHandsIsToldForSomeSeconds) {
  look();
  clock_.advance(GilLooks::kGoodFor);
  held(8);
  EXPECT_EQ(only_look(), LockLook::ChangesHands);
  look();
  clock_.advance(GilLooks::kGoodFor + 1s);
  held(9);
  EXPECT_TRUE(take().empty());
}

// As in a program that has its turn once in many seconds.
TEST_F(GilLooksTest, AHolderIsToldAsLongAsNobodyElseHasHadIt) {
  look();
  look();
  clock_.advance(20s);
  const auto waits = take();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_NE(waits[0].holder, nullptr);
}

// execve(2) keeps the number and the start of a process.
TEST_F(GilLooksTest, AnotherProgramOfTheProcessHasAnotherGil) {
  look();
  look();
  held(7, false);
  gil_ = python_.add_gil();
  held(3);
  look();
  EXPECT_TRUE(take().empty()) << "not found yet";
  clock_.advance(GilLooks::kFoundFor);
  look();
  EXPECT_EQ(only_look(), LockLook::SeenOnce);
  look();
  ASSERT_EQ(take().size(), 1U);
  EXPECT_NE(take()[0].holder, nullptr);
}

TEST_F(GilLooksTest, AProcessWithWaitersStaysLookedAt) {
  for (int i = 0; i < 100; ++i) look();
  EXPECT_EQ(processes_.next_to_look_at(), std::vector<std::uint32_t>{kProcess});
  for (int i = 0; i < 100; ++i) look({});
  EXPECT_TRUE(processes_.next_to_look_at().empty());
}

TEST_F(GilLooksTest, OneProcessHasNoMoreThanItsShare) {
  std::vector<std::uint32_t> tids;
  for (std::uint32_t i = 0; i < GilLooks::kMostOfProcess + 5; ++i) tids.push_back(1'000 + i);
  look(tids);
  EXPECT_EQ(take().size(), GilLooks::kMostOfProcess);
  EXPECT_EQ(looks_.left_out(), 5U);
}

TEST_F(GilLooksTest, AllProcessesTogetherHaveRoomForSoMany) {
  constexpr std::uint32_t kProcesses = GilLooks::kMostOfAll / GilLooks::kMostOfProcess + 1;
  for (std::uint32_t process = 0; process < kProcesses; ++process) {
    look_at_crowd(kProcess + process);
  }
  EXPECT_EQ(looks_.left_out(), GilLooks::kMostOfProcess) << "those of one process";
  EXPECT_EQ(take().size(), GilLooks::kMostOfAll);
}

TEST_F(GilLooksTest, OneUserLeavesRoomForOthers) {
  constexpr std::uint32_t kOfAnother = kProcess + 200;
  constexpr std::uint32_t kProcesses = GilLooks::kMostOfAll / GilLooks::kMostOfProcess;
  users_ = [](std::uint32_t process) { return ShareOwner(process == kOfAnother ? 8U : 7U); };
  for (std::uint32_t i = 1; i <= kProcesses; ++i) look_at_crowd(kProcess + i);
  EXPECT_EQ(take().size(), GilLooks::kMostOfUser);
  EXPECT_EQ(looks_.left_out(), GilLooks::kMostOfAll - GilLooks::kMostOfUser);
  look_at_crowd(kOfAnother);
  EXPECT_EQ(take().size(), GilLooks::kMostOfUser + GilLooks::kMostOfProcess);
}

// A signal may stop it while it waits; then its register still has the futex.
TEST_F(GilLooksTest, AStoppedThreadDoesNotWaitForIt) {
  for (int i = 0; i < 2; ++i) {
    clock_.advance(1s);
    offcpud_blocked_record stopped = waiting(51);
    stopped.sample.kind = OFFCPUD_BLOCKED_STOPPED;
    looks_.see(stopped);
    looks_.see(waiting(50));
    looks_.end_look();
  }
  const auto waits = take();
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].tid, 50U);
}

TEST_F(GilLooksTest, WhoWaitedAndHasNoRoomAnyMoreIsCounted) {
  std::vector<std::uint32_t> tids;
  for (std::uint32_t i = 0; i < GilLooks::kMostOfProcess; ++i) tids.push_back(1'000 + i);
  look(tids);
  look(tids);
  EXPECT_EQ(looks_.left_out(), 0U);
  look({501, 502, 503});
  EXPECT_EQ(take().size(), GilLooks::kMostOfProcess);
  EXPECT_EQ(looks_.left_out(), 3U);
}

TEST_F(GilLooksTest, WaitsOfAProcessThatMakesRoomForAnotherAreCounted) {
  look({50, 51, 52});
  clock_.advance(1s);
  for (std::uint32_t i = 0; i < GilLooks::kMost; ++i) {
    looks_.see(waiting(10'000 + i, 10'000 + i));
    looks_.end_look();
  }
  EXPECT_EQ(looks_.left_out(), 3U);
  EXPECT_TRUE(take().empty());
}

// However many processes one user has.
TEST_F(GilLooksTest, UsersTakeTurns) {
  constexpr std::uint32_t kMany = 40;
  users_ = [](std::uint32_t process) { return ShareOwner(process >= 200 ? 8U : 7U); };
  for (std::uint32_t i = 1; i <= kMany; ++i) find(kProcess + i);
  for (const std::uint32_t process : {200U, 201U}) find(process);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 3; ++i) {
    const auto next = processes_.next_to_look_at();
    EXPECT_EQ(next.size(), PythonProcesses::kMostLookedAt);
    EXPECT_THAT(next, testing::IsSupersetOf({200U, 201U})) << "each time";
    seen.insert(next.begin(), next.end());
  }
  EXPECT_EQ(seen.size(), 3U * (PythonProcesses::kMostLookedAt - 3) + 3)
      << "those of the other user in turn, beside kProcess of a third one";
}

TEST_F(GilLooksTest, EachOfManyUsersHasATurn) {
  for (std::uint32_t i = 1; i < 2 * PythonProcesses::kMostLookedAt; ++i) find(kProcess + i);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 2; ++i) {
    const auto next = processes_.next_to_look_at();
    seen.insert(next.begin(), next.end());
  }
  EXPECT_EQ(seen.size(), 2U * PythonProcesses::kMostLookedAt) << "all";
}

}  // namespace
}  // namespace offcpud
