// SPDX-License-Identifier: Apache-2.0
#include "sampler/site_classes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sampler/site_place.h"
#include "support/rules_of.h"
#include "unwind.h"
#include "waited.h"

namespace offcpud {
namespace {

std::shared_ptr<const SiteRules> rules() {
  return test::rules_of(R"(
sites:
  - {name: shop-pool, for: lock, exe: shopd, match: "... < shop::acquire"}
  - {name: shop-wait, for: unknown, ask: waker, exe: shopd, match: "... < shop::wait"}
  - {name: shop-asks, for: unknown, ask: socket, exe: shopd, match: "... < shop::recv"}
  - {name: kernel-named, for: storage, kernel: "... < submit_bio_wait", reason: disk}
  - {name: till, for: answer, interpreted: "ask@till.py < ... < main@till.py"}
)");
}

StackFrame user(std::string function) {
  return {.function = std::move(function), .object = "shopd", .build_id = "ab", .address = 1};
}

StackFrame kernel(std::string function) {
  return {.function = std::move(function), .object = "[kernel]", .kernel = true};
}

// The frames of a snapshot grow from entry to entry, and two frames may have one name.
TEST(SiteClasses, ClassifiesEntriesByNamesReasonAndProcess) {
  WaitClassifier classifier(rules());
  WakerEvidence evidence;
  ProcessOwners owners;
  PlaceClasses places;
  SiteClasses classes(classifier,
                      {.evidence = evidence, .places = places, .owners = owners, .now = {}});
  const BlockSum sum;
  Snapshot snapshot;
  snapshot.frames = {user("main"), user("shop::acquire")};
  StackEntry entry{.comm = "shopd", .reason = OFFCPUD_BLOCKED_CONDVAR, .user = {0, 1}};
  classes.classify(snapshot, entry, sum, false);
  EXPECT_EQ(entry.wait_for, WaitFor::Lock);
  EXPECT_EQ(entry.site, "shop-pool");

  StackEntry other{.comm = "other", .reason = OFFCPUD_BLOCKED_CONDVAR, .user = {0, 1}};
  classes.classify(snapshot, other, sum, false);
  EXPECT_EQ(other.wait_for, WaitFor::Unknown);
  EXPECT_EQ(other.site, "");

  // A function of a program is none of the kernel, whatever its name.
  snapshot.frames.push_back(user("submit_bio_wait"));
  snapshot.frames.push_back(kernel("submit_bio_wait"));
  snapshot.frames.push_back(kernel("schedule"));
  StackEntry in_program{.comm = "shopd", .reason = OFFCPUD_BLOCKED_DISK, .user = {0, 2}};
  classes.classify(snapshot, in_program, sum, false);
  EXPECT_EQ(in_program.site, "");
  StackEntry disk{.comm = "shopd", .reason = OFFCPUD_BLOCKED_DISK, .user = {0}, .kernel = {3, 4}};
  classes.classify(snapshot, disk, sum, false);
  EXPECT_EQ(disk.wait_for, WaitFor::Storage);
  EXPECT_EQ(disk.site, "kernel-named");
  StackEntry kernel_mutex{.comm = "shopd", .reason = OFFCPUD_BLOCKED_KERNEL, .kernel = {3, 4}};
  classes.classify(snapshot, kernel_mutex, sum, false);
  EXPECT_EQ(kernel_mutex.site, "") << "another reason";
}

// The stacks of walks have the callers of functions that wait for locks, but not these.
TEST(SiteClasses, RulesSeeThatAThreadWaitsForALockOfTheKernel) {
  WaitClassifier classifier(test::rules_of(R"(
sites:
  - {name: kernel-lock, for: lock, kernel: "... < mutex_lock"}
  - {name: terminal, for: work, kernel: "... < n_tty_read"}
)"));
  WakerEvidence evidence;
  ProcessOwners owners;
  PlaceClasses places;
  SiteClasses classes(classifier,
                      {.evidence = evidence, .places = places, .owners = owners, .now = {}});
  Snapshot snapshot;
  snapshot.frames = {kernel("tty_read"), kernel("n_tty_read")};
  StackEntry reader{.comm = "sh", .reason = OFFCPUD_BLOCKED_OTHER, .kernel = {0, 1}};
  StackEntry second = reader;
  BlockSum sum;
  classes.classify(snapshot, reader, sum, false);
  EXPECT_EQ(reader.site, "terminal");
  sum.sample.waited_on = OFFCPUD_ON_LOCK;
  classes.classify(snapshot, second, sum, false);
  EXPECT_EQ(second.site, "kernel-lock");
  EXPECT_EQ(second.wait_for, WaitFor::Lock);
}

TEST(SiteClasses, RulesSeeInterpretedFunctionsOfTheSum) {
  WaitClassifier classifier(rules());
  WakerEvidence evidence;
  ProcessOwners owners;
  PlaceClasses places;
  SiteClasses classes(classifier,
                      {.evidence = evidence, .places = places, .owners = owners, .now = {}});
  Snapshot snapshot;
  snapshot.frames = {user("loop")};
  auto interpreted = std::make_shared<InterpretedStack>();
  interpreted->frames = {
      {"ask (till.py)", 12, 0}, {"pay (till.py)", 7, 0}, {"main (till.py)", 0, 0}};
  BlockSum sum;
  for (const bool is_known : {false, true, false}) {
    sum.interpreted = is_known ? interpreted : nullptr;
    StackEntry entry{.comm = "python3", .reason = OFFCPUD_BLOCKED_CONDVAR, .user = {0}};
    classes.classify(snapshot, entry, sum, false);
    EXPECT_EQ(entry.site, is_known ? "till" : "");
    EXPECT_EQ(entry.wait_for, is_known ? WaitFor::Answer : WaitFor::Unknown);
  }
}

// Threads of Python, all of whose waits are at one place for those who see no functions of it.
class NamedWaitsTest : public testing::Test {
 protected:
  struct Waits {
    std::vector<std::uint32_t> tids;
    std::string function;  // of Python; empty: not known
  };

  // What a snapshot says of these waits, in the same order.
  std::vector<WaitFor> classify(const std::vector<Waits>& all, bool learns = true) {
    now_ += std::chrono::seconds(10);
    SiteClasses classes(classifier_, {.evidence = evidence_,
                                      .places = places_,
                                      .owners = owners_,
                                      .learns = learns,
                                      .now = now_});
    Snapshot snapshot;
    snapshot.frames = {user("loop")};
    for (const Waits& each : all) {
      BlockSum sum;
      sum.sample.tgid = 100;
      sum.sample.process_start_ns = 5;
      sum.sample.user_end = OFFCPUD_UNWIND_END_ROOT;
      for (const std::uint32_t tid : each.tids) {
        sum.pairs.push_back({.tid = tid, .samples = 1, .ns = 1e8, .whole_ns = 1e8, .episodes = 1});
      }
      if (!each.function.empty()) {
        auto stack = std::make_shared<InterpretedStack>();
        stack->frames = {{each.function + " (till.py)", 12, 0}};
        sum.interpreted = stack;
      }
      StackEntry entry{.comm = "shopd", .reason = OFFCPUD_BLOCKED_CONDVAR, .user = {0}};
      classes.classify(snapshot, entry, sum, false);
      snapshot.entries.push_back(entry);
    }
    classes.decide(snapshot);
    std::vector<WaitFor> said;
    for (const StackEntry& entry : snapshot.entries) said.push_back(entry.wait_for);
    return said;
  }

  WaitClassifier classifier_{test::rules_of(R"(
sites:
  - {name: till, for: answer, interpreted: "ask@till.py"}
  - {name: desk, for: work, interpreted: "idle@till.py"}
  - {name: lock, for: unknown, ask: handover, exe: shopd, match: "loop"}
)")};
  WakerEvidence evidence_;
  PlaceClasses places_;
  ProcessOwners owners_;
  MonotonicTime now_{};
};

TEST_F(NamedWaitsTest, OthersOfTheSameThreadAreForTheSame) {
  const std::vector<Waits> both = {{{1}, "ask"}, {{2}, "idle"}, {{1}, ""}, {{2}, ""}, {{3}, ""}};
  const std::vector<WaitFor> told = {WaitFor::Answer, WaitFor::Work, WaitFor::Answer, WaitFor::Work,
                                     WaitFor::Unknown};
  EXPECT_EQ(classify(both, false)[2], WaitFor::Unknown) << "a profile brings no evidence";
  EXPECT_EQ(classify(both), told);
  // Later ones without names, too.
  EXPECT_EQ(classify({{{1}, ""}, {{2}, ""}}), (std::vector{WaitFor::Answer, WaitFor::Work}));
  EXPECT_EQ(classify({{{1}, ""}}, false).at(0), WaitFor::Answer);
  now_ += PlaceClasses::kKept;
  EXPECT_EQ(classify({{{1}, ""}}).at(0), WaitFor::Unknown);
}

TEST_F(NamedWaitsTest, AThreadThatWaitsForSeveralThingsThereIsNotJudgedByThem) {
  const std::vector<Waits> both = {{{1}, "ask"}, {{1}, "idle"}, {{1}, ""}};
  EXPECT_EQ(classify(both).at(2), WaitFor::Unknown);
  // Nor if nearly all its time there has no functions: an idle worker may ask once.
  std::vector<Waits> mostly = {{{5}, "ask"}, {{6}, "idle"}};
  for (int i = 0; i < 3; ++i) mostly.insert(mostly.end(), {{{5}, ""}, {{6}, ""}});
  EXPECT_EQ(classify(mostly).at(2), WaitFor::Unknown);
  EXPECT_EQ(classify(mostly).at(3), WaitFor::Work) << "an idle one is not called stuck";
  // Nor by functions that no rule knows.
  EXPECT_EQ(classify({{{4}, "ask"}, {{4}, "pay"}, {{4}, ""}}).at(2), WaitFor::Unknown);
}

TEST_F(NamedWaitsTest, FunctionsThatAreKnownDecideForThemselves) {
  const std::vector<Waits> both = {{{1}, "ask"}, {{1}, "other"}, {{1}, ""}};
  EXPECT_EQ(classify(both).at(1), WaitFor::Unknown);
  // "other" is a tenth of the time or less, so the others have told what the thread waits for.
  std::vector<Waits> mostly(20, {{1}, "ask"});
  mostly.push_back({{1}, "other"});
  EXPECT_EQ(classify(mostly).back(), WaitFor::Unknown);
}

TEST_F(NamedWaitsTest, OtherRulesForgetWhatTheseSaid) {
  EXPECT_EQ(classify({{{1}, "ask"}, {{1}, ""}}).at(1), WaitFor::Answer);
  classifier_.use(test::rules_of(R"(
sites:
  - {name: lock, for: unknown, ask: handover, exe: shopd, match: "loop"}
)"));
  EXPECT_EQ(classify({{{1}, ""}}).at(0), WaitFor::Unknown);
}

// What a snapshot costs: each function once, each stack by numbers.
TEST(SiteClasses, LooksUpEachFrameOfASnapshotOnce) {
  WaitClassifier classifier(rules());
  WakerEvidence evidence;
  ProcessOwners owners;
  PlaceClasses places;
  const BlockSum sum;
  for (int snapshots = 0; snapshots < 3; ++snapshots) {
    SiteClasses classes(classifier,
                        {.evidence = evidence, .places = places, .owners = owners, .now = {}});
    Snapshot snapshot;
    snapshot.frames = {user("main"), user("shop::acquire"), kernel("schedule")};
    for (int i = 0; i < 100; ++i) {
      StackEntry entry{.comm = "shopd", .user = {0, 1}, .kernel = {2}};
      classes.classify(snapshot, entry, sum, false);
      EXPECT_EQ(entry.site, "shop-pool");
    }
  }
  EXPECT_EQ(classifier.work().waits, 300U);
  EXPECT_EQ(classifier.work().matched, 1U);
  EXPECT_EQ(classifier.work().names, 4U);
}

// Snapshots of a process whose threads wait in shop::wait, each woken by the one in `wakers`.
class SiteEvidence : public testing::Test {
 protected:
  using Wakers = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  BlockSum sum_of(const Wakers& wakers) {
    BlockSum sum;
    sum.sample.tgid = sum.sample.waker_tgid = 100;
    sum.sample.process_start_ns = 5;
    sum.sample.waker = OFFCPUD_FROM_SAME_CGROUP;
    sum.sample.user_end = OFFCPUD_UNWIND_END_ROOT;
    for (const auto& [tid, waker] : wakers) {
      sum.pairs.push_back(
          {.tid = tid, .waker_tid = waker, .samples = 10, .ns = 1e7, .episodes = 10});
    }
    return sum;
  }

  // What is said of the waits of `callers`, functions that call shop::wait, in one snapshot.
  std::vector<WaitFor> classify(const std::vector<std::string>& callers,
                                const std::vector<BlockSum>& sums, bool learns = true) {
    now_ += std::chrono::seconds(10);
    SiteClasses classes(classifier_, {.evidence = evidence_,
                                      .places = places_,
                                      .owners = owners_,
                                      .learns = learns,
                                      .now = now_});
    Snapshot snapshot;
    snapshot.frames = {user("shop::wait")};
    for (std::size_t i = 0; i < callers.size(); ++i) {
      snapshot.frames.push_back(user(callers[i]));
      StackEntry entry{.comm = "shopd",
                       .reason = OFFCPUD_BLOCKED_CONDVAR,
                       .user = {static_cast<std::uint32_t>(i + 1), 0}};
      classes.classify(snapshot, entry, sums.at(i), own_timer_);
      EXPECT_EQ(entry.site, "shop-wait");
      snapshot.entries.push_back(entry);
    }
    classes.decide(snapshot);
    std::vector<WaitFor> said;
    for (const StackEntry& entry : snapshot.entries) said.push_back(entry.wait_for);
    return said;
  }

  const Wakers convoy_ = {{1, 2}, {2, 3}, {3, 1}};
  const Wakers consumers_ = {{11, 15}, {12, 15}};
  const std::vector<WaitFor> unknown_ = {WaitFor::Unknown, WaitFor::Unknown};
  WaitClassifier classifier_{rules()};
  WakerEvidence evidence_;
  PlaceClasses places_;
  ProcessOwners owners_;
  MonotonicTime now_{};
  bool own_timer_ = false;
};

TEST_F(SiteEvidence, TellsALockFromAQueueOfOneSite) {
  const std::vector<std::string> callers = {"shop::Lock::take", "shop::Queue::get"};
  const std::vector<BlockSum> sums = {sum_of(convoy_), sum_of(consumers_)};
  EXPECT_EQ(classify(callers, sums), unknown_);
  const std::vector<WaitFor> told = {WaitFor::Lock, WaitFor::Work};
  EXPECT_EQ(classify(callers, sums), told);
  // A profile asks, and brings no evidence.
  EXPECT_EQ(classify(callers, {sum_of(consumers_), sum_of(convoy_)}, false), unknown_);
  EXPECT_EQ(classify(callers, sums, false), told);
}

// Two mutexes by turns, at two places of a program: who waits at one does not hold the other.
TEST_F(SiteEvidence, KeepsPlacesApart) {
  const std::vector<std::string> callers = {"shop::Queue::put", "shop::Queue::get"};
  const std::vector<BlockSum> sums = {sum_of({{1, 11}, {1, 12}}), sum_of({{11, 2}, {12, 1}})};
  for (int i = 0; i < 3; ++i) {
    for (const WaitFor said : classify(callers, sums)) EXPECT_NE(said, WaitFor::Lock);
  }
}

TEST_F(SiteEvidence, IsNotTakenFromStacksThatBreakOff) {
  BlockSum broken = sum_of(convoy_);
  broken.sample.user_end = OFFCPUD_UNWIND_END_NO_RULE;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(classify({"a", "b"}, {broken, broken}), unknown_);
  }
}

// Idle threads of Go wake each other as those do that wait for a lock; rules know them by names.
TEST_F(SiteEvidence, IsNotTakenFromStacksWhoseSymbolsAreNotRead) {
  const std::vector<std::string> callers = {"[shopd+0x12ab]", "[shopd+0x7f]"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(classify(callers, {sum_of(convoy_), sum_of(consumers_)}), unknown_);
  }
  const std::vector<std::string> named = {"shopd!fn_12a0", "[jit]"};
  (void)classify(named, {sum_of(convoy_), sum_of(convoy_)});
  const std::vector<WaitFor> told = {WaitFor::Lock, WaitFor::Lock};
  EXPECT_EQ(classify(named, {sum_of(convoy_), sum_of(convoy_)}), told);
}

TEST_F(SiteEvidence, SaysThatAThreadsOwnTimerEndsItsWaits) {
  own_timer_ = true;
  BlockSum timed = sum_of({{1, 0}});
  timed.sample.waker = OFFCPUD_FROM_INTERRUPT;
  EXPECT_EQ(classify({"a"}, {timed}).at(0), WaitFor::Unknown);
  EXPECT_EQ(classify({"a"}, {timed}).at(0), WaitFor::Timer);
}

// An entry has all threads of one name.
TEST_F(SiteEvidence, IsForWhatMostOfItsThreadsWaitFor) {
  Wakers both = convoy_;
  both.insert(both.end(), consumers_.begin(), consumers_.end());
  (void)classify({"a"}, {sum_of(both)});
  EXPECT_EQ(classify({"a"}, {sum_of(both)}).at(0), WaitFor::Lock);
  BlockSum sum = sum_of(both);
  sum.pairs.back().ns *= 10;
  EXPECT_EQ(classify({"a"}, {sum}).at(0), WaitFor::Work);
}

// Windows know the past of the place: its answers come when there is a job.
TEST_F(SiteEvidence, AnAnswerIsWorkWhereItsPastSaysSo) {
  const auto said = [&] {
    SiteClasses classes(
        classifier_,
        {.evidence = evidence_, .places = places_, .owners = owners_, .learns = true, .now = now_});
    Snapshot snapshot;
    snapshot.frames = {user("shop::recv")};
    StackEntry entry{.comm = "shopd", .reason = OFFCPUD_BLOCKED_NETWORK, .user = {0}};
    BlockSum sum = sum_of(consumers_);
    sum.sample.waited_on = OFFCPUD_ON_ASKED | OFFCPUD_ON_ALONE;
    classes.classify(snapshot, entry, sum, false);
    EXPECT_EQ(entry.site, "shop-asks");
    return entry.wait_for;
  };
  EXPECT_EQ(said(), WaitFor::Answer);
  PlaceNumber place(OFFCPUD_BLOCKED_NETWORK);
  place.add(name_hash(user("shop::recv")));
  const ProcessPlace at{.tgid = 100, .process_start_ns = 5, .place = place.number()};
  PlaceClasses::Times work{};
  work[static_cast<std::size_t>(WaitFor::Work)] = 1;
  places_.put(at, {}, work, now_);
  EXPECT_EQ(said(), WaitFor::Answer) << "that is of other waits";
  places_.put(place_of_answers(at), {}, work, now_);
  EXPECT_EQ(said(), WaitFor::Work);
}

// What windows are told: one row for each place, which adds up all its threads.
TEST_F(SiteEvidence, TellsWindowsTheSharesOfAPlace) {
  Wakers both = convoy_;
  both.insert(both.end(), consumers_.begin(), consumers_.end());
  (void)classify({"a"}, {sum_of(both)});
  (void)classify({"a"}, {sum_of(both)});
  PlaceNumber place(OFFCPUD_BLOCKED_CONDVAR);
  for (const char* name : {"a", "shop::wait"}) place.add(name_hash(user(name)));
  const auto* said =
      places_.find({.tgid = 100, .process_start_ns = 5, .place = place.number()}, now_);
  ASSERT_NE(said, nullptr);
  EXPECT_DOUBLE_EQ((*said)[static_cast<std::size_t>(WaitFor::Lock)], 0.6);
  EXPECT_DOUBLE_EQ((*said)[static_cast<std::size_t>(WaitFor::Work)], 0.4);
}

}  // namespace
}  // namespace offcpud
