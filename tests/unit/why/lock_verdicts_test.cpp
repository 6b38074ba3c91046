// SPDX-License-Identifier: Apache-2.0
// Verdicts on who holds a lock, and on what is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/why/hosts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using test::holder;
using test::locked;
using test::sentence;
using test::shop;
using test::units_told;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using On = UnitPeer::On;
using By = UnitTaker::By;

TEST(LockVerdicts, TheHolderOfALockIsNamedWithWhatItDoes) {
  const std::string begin =
      "app: 3.0 threads wait for a lock (mutex) that thread refresh (tid 101 of python3, pid 100) "
      "holds";
  HandMadeInputs runs = locked(holder(UnitHolder::Does::Runs));
  EXPECT_EQ(sentence(runs, "app"), begin + "; that thread runs");
  HandMadeInputs sleeps = locked(holder(UnitHolder::Does::Waits, WaitFor::Timer));
  EXPECT_EQ(sentence(sleeps, "app"), begin + "; that thread sleeps");
  UnitHolder deadlocked = holder(UnitHolder::Does::Deadlocked, WaitFor::Lock);
  deadlocked.circle = "refresh (tid 101), flush (tid 102)";
  HandMadeInputs dead = locked(deadlocked);
  EXPECT_EQ(sentence(dead, "app"),
            begin + "; a deadlock of refresh (tid 101), flush (tid 102): none of them can go on");
  HandMadeInputs unseen = locked(holder(UnitHolder::Does::Unknown));
  EXPECT_EQ(sentence(unseen, "app"),
            begin + "; what that does is unknown, because no wait of it has lasted");
  WhyUnits units(runs.made());
  EXPECT_EQ(verdict_of(units, "app").culprit, "app");
}

TEST(LockVerdicts, WhatAHolderDoesIsToldWithItsAge) {
  const auto said = [](UnitHolder by, WaitAge age) {
    by.age = age;
    HandMadeInputs host = locked(std::move(by));
    const std::string text = sentence(host, "app");
    return text.substr(text.find("; that thread"));
  };
  const WaitAge age{.ns = 12'300'000'000};
  EXPECT_EQ(said(holder(UnitHolder::Does::Runs), age),
            "; that thread runs or waits for a CPU, for 12 s now");
  EXPECT_EQ(said(holder(UnitHolder::Does::Waits, WaitFor::Timer), age),
            "; that thread sleeps, for 12 s now");
  EXPECT_EQ(said(holder(UnitHolder::Does::Waits, WaitFor::Work), age),
            "; that thread waits for work, for 12 s now");
  EXPECT_THAT(said(holder(UnitHolder::Does::Waits, WaitFor::Storage), age),
              HasSubstr("; that thread waits, for 12 s now, for storage"));
  EXPECT_EQ(said(holder(UnitHolder::Does::Runs), {.ns = 61'000'000'000, .estimated = true}),
            "; that thread runs or waits for a CPU, for ~1 min 1 s now");
}

TEST(LockVerdicts, AHolderIsFollowedToWhomItWaitsFor) {
  UnitHolder asks = holder(UnitHolder::Does::Waits, WaitFor::Answer);
  asks.site = "http-client";
  asks.on = {.kind = On::Unit, .on = "rates", .process = "nginx"};
  HandMadeInputs host = locked(std::move(asks));
  host.waits("rates", WaitFor::Storage, "fsync", 1)
      .on("rates", WaitFor::Storage, On::Device, "vda", 1);
  EXPECT_EQ(
      sentence(host, "app"),
      "app: 3.0 threads wait for a lock (mutex) that thread refresh (tid 101 of python3, pid 100) "
      "holds; that thread waits for an answer (http-client) of rates (nginx); meanwhile rates "
      "waits for storage (fsync) on device vda; who loads it is unknown, because this host "
      "counts no requests to it");
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "app").culprit, "vda");
}

TEST(LockVerdicts, AHolderThatWaitsForALockLeadsToTheNext) {
  UnitHolder first = holder(UnitHolder::Does::Waits, WaitFor::Lock);
  UnitHolder second = holder(UnitHolder::Does::Runs);
  second.lock = "a lock on a file";
  second.by = "backup";
  second.is_thread = false;
  second.thread = {};
  second.tid = 0;
  second.process = "tar";
  second.pid = 7;
  first.next = std::make_shared<const UnitHolder>(second);
  HandMadeInputs host = locked(std::move(first));
  EXPECT_THAT(
      sentence(host, "app"),
      HasSubstr("; that thread waits for a lock (lock on a file) that process tar (pid 7) of "
                "backup holds"));
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "app").culprit, "backup");
}

// Two locks of one unit, of which the holder of one is known.
TEST(LockVerdicts, AHolderIsToldOfItsOwnWaitersOnly) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "python-with-lock", 2)
      .waits("app", WaitFor::Lock, "file-lock", 1)
      .on("app", WaitFor::Lock, On::Unit, "app", 1);
  UnitHolder by = holder(UnitHolder::Does::Runs);
  by.waiting = 1;
  by.lock = "a lock on a file";
  host.held("app", by);
  EXPECT_EQ(
      sentence(host, "app"),
      "app: 3.0 threads wait for a lock (python-with-lock): 1.0 for a lock on a file that thread "
      "refresh (tid 101 of python3, pid 100) holds; that thread runs");
}

// Of several holders the one for whom most wait.
TEST(LockVerdicts, TheHolderForWhomMostWaitIsNamed) {
  UnitHolder small = holder(UnitHolder::Does::Runs);
  small.thread = "small";
  small.waiting = 1;
  HandMadeInputs host = locked(std::move(small));
  host.held("app", holder(UnitHolder::Does::Runs));
  EXPECT_THAT(sentence(host, "app"), HasSubstr("thread refresh"));
}

// The kind of lock is told once, and as exactly as it is known.
TEST(LockVerdicts, WhatIsSaidOfALockIsSaidOnce) {
  const auto said = [](const std::string& site, const std::string& lock) {
    UnitHolder by = holder(UnitHolder::Does::Runs);
    by.lock = lock;
    by.is_gil = site == "python-gil";
    HandMadeInputs host;
    host.waits("app", WaitFor::Lock, site, 1)
        .on("app", WaitFor::Lock, On::Unit, "app", 1)
        .held("app", by);
    const std::string text = sentence(host, "app");
    return text.substr(0, text.find(" that thread"));
  };
  EXPECT_EQ(said("mutex", "a read-write lock"),
            "app: 1.0 threads wait for a lock (read-write lock)");
  EXPECT_EQ(said("", "a mutex"), "app: 1.0 threads wait for a lock (mutex)");
  EXPECT_EQ(said("python-with-lock", "a mutex"),
            "app: 1.0 threads wait for a lock (python-with-lock, mutex)");
  EXPECT_EQ(said("python-gil", "the GIL of Python"),
            "app: 1.0 threads wait for a lock (GIL of Python)");
}

TEST(LockVerdicts, ALockThatIsNoneByItsSiteIsStillNamed) {
  UnitHolder by = holder(UnitHolder::Does::Runs);
  by.lock = "a semaphore of the kernel";
  by.waiters_for = WaitFor::Storage;
  HandMadeInputs host;
  host.waits("app", WaitFor::Storage, "fsync", 1)
      .on("app", WaitFor::Storage, On::Unit, "app", 1)
      .held("app", by);
  EXPECT_THAT(sentence(host, "app"), HasSubstr(" for storage (fsync), a semaphore of the kernel "
                                               "that thread refresh "));
}

TEST(LockVerdicts, SomethingThatNobodyKnowsSaysWhy) {
  HandMadeInputs host;
  host.waits("orders-db", WaitFor::Lock, "postgresql-heavyweight-lock", 8);
  EXPECT_EQ(sentence(host, "orders-db"),
            "orders-db: 8.0 threads wait for a lock (postgresql-heavyweight-lock); who holds it is "
            "unknown, because nobody can see who holds a lock of its kind");
  WhyUnits units(host.made());
  const WhyVerdict verdict = verdict_of(units, "orders-db");
  EXPECT_EQ(verdict.culprit, "");
  EXPECT_THAT(verdict.because, HasSubstr("who holds a lock of its kind"));
}

// A holder is told if he was seen twice; else what was seen is told.
TEST(LockVerdicts, ALockWithoutAHolderSaysWhatWasSeen) {
  const auto because = [](std::uint32_t lasting, std::uint32_t nobody, std::uint32_t changes,
                          double ended = 0) {
    HandMadeInputs host;
    host.waits("app", WaitFor::Lock, "mutex", 5).unheld("app", nobody, changes, 0, ended);
    host.inputs.sites.rows.back().lasting = lasting;
    WhyUnits units(host.made());
    return verdict_of(units, "app").because;
  };
  EXPECT_EQ(because(0, 0, 0, 10),
            "it is held by many in turn: no wait lasted for the 0.4 s after which a look asks who "
            "holds it");
  EXPECT_EQ(because(6, 1, 5),
            "it is held by many in turn: nobody held it at both looks, during 5 waits");
  EXPECT_EQ(because(6, 1, 0), "it named nobody when it was looked at, during 1 wait");
  EXPECT_EQ(because(6, 0, 0), "nobody can see who holds a lock of its kind");
}

// A python process keeps a file lock; the first look has seen it, the second is still to come.
TEST(LockVerdicts, AfterOneLookTheHolderIsNotKnownYet) {
  HandMadeInputs host;
  host.waits("nc-backup", WaitFor::Lock, "file-lock", 0.14).unheld("nc-backup", 0, 0, 1);
  host.inputs.sites.rows.back().lasting = 1;
  EXPECT_EQ(sentence(host, "nc-backup"),
            "nc-backup: 0.14 threads wait for a lock (file-lock); who holds it is not known yet, "
            "because it was looked at only once so far, during 1 wait");
  host.inputs.unheld.rows.back().changes_hands = 1;
  EXPECT_THAT(sentence(host, "nc-backup"), HasSubstr("nobody held it at both looks"))
      << "of as many waits two looks differed";
  host.inputs.unheld.rows.back() = {.unit = "nc-backup", .names_nobody = 1, .seen_once = 2};
  EXPECT_THAT(sentence(host, "nc-backup"), HasSubstr("only once so far, during 2 waits"));
}

// One wait of some seconds that ended just before the look is no lock that is held in turn.
TEST(LockVerdicts, FewWaitsThatNoLookHasSeenSayNothingOfManyHolders) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "mutex", 0.6).unheld("app", 0, 0, 0, 1);
  EXPECT_EQ(sentence(host, "app"),
            "app: 0.60 threads wait for a lock (mutex); who holds it is not known yet, because it "
            "was not looked at so far: no wait had lasted for 0.4 s when a look asked who holds "
            "it");
}

TEST(LockVerdicts, OfAProcessItSaysWhatWasSeenOfItsUnit) {
  HandMadeInputs host;
  host.waits("python3 (pid 7)", WaitFor::Lock, "file-lock", 1).unheld("nc-backup", 0, 0, 1);
  host.inputs.process = "python3 (pid 7)";
  host.inputs.unit_of_process = "nc-backup";
  EXPECT_THAT(sentence(host, "python3 (pid 7)"), HasSubstr("is not known yet, because it was "));
}

TEST(LockVerdicts, OfLocksThatManyMayHoldItSaysSo) {
  const auto said = [](const std::string& site) {
    HandMadeInputs host;
    host.waits("app", WaitFor::Lock, site, 1).unheld("app", 0, 0, 0, 0, 2);
    return sentence(host, "app");
  };
  EXPECT_EQ(said("file-lock"),
            "app: 1.0 threads wait for a lock (file-lock); who holds it is unknown, because no "
            "process alone has the locks on that file, during 2 waits");
  EXPECT_THAT(said("kernel-lock"),
              HasSubstr("because readers have it, of whom no name is kept, during 2 waits"));
}

// Before 6.16 no look sees it.
TEST(LockVerdicts, OfALockOfTheKernelItSaysWhichKernelsTellTheHolder) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "kernel-lock", 1).unheld("app", 0, 0);
  host.inputs.sites.rows.back().lasting = 1;
  EXPECT_THAT(sentence(host, "app"),
              HasSubstr("who holds it is unknown, because the kernel does not say who holds it; of "
                        "its mutexes and semaphores it says so from 6.16 on, with "
                        "CONFIG_DETECT_HUNG_TASK_BLOCKER"));
}

// The part of a wait before anybody had looked at it; looks see the locks on all files.
TEST(LockVerdicts, BeforeTheFirstLookAtALockOnAFileItsHolderIsNotKnownYet) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "file-lock", 1).unheld("app", 0, 0);
  host.inputs.sites.rows.back().lasting = 1;
  EXPECT_THAT(sentence(host, "app"),
              HasSubstr("who holds it is not known yet, because it was not looked at so far"));
}

TEST(LockVerdicts, OfALeaseItSaysThatNobodyCanSeeWhoHasIt) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "file-lease", 1).unheld("app", 0, 0);
  EXPECT_THAT(sentence(host, "app"), HasSubstr("nobody can see who holds a lock of its kind"));
}

// Who gave it back is known, but nobody was seen to hold it.
TEST(LockVerdicts, AHotLockOfTheUnitsOwnSaysWhyNobodyIsNamed) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "mutex", 5)
      .on("app", WaitFor::Lock, On::Unit, "app", 5, "convoy")
      .unheld("app", 0, 5);
  EXPECT_EQ(sentence(host, "app"),
            "app: 5.0 threads wait for a lock (mutex) of the same unit (convoy); it is held by "
            "many in turn: nobody held it at both looks, during 5 waits");
}

TEST(LockVerdicts, TheGilThatNobodyKeepsIsHeldByManyInTurn) {
  const auto said = [](std::uint32_t changes) {
    HandMadeInputs host;
    host.waits("app", WaitFor::Lock, "python-gil", 3).unheld_gil("app", changes);
    return sentence(host, "app");
  };
  EXPECT_THAT(said(4), HasSubstr("because it is held by many in turn: nobody held it at both "
                                 "looks, during 4 waits"));
  EXPECT_THAT(said(0), HasSubstr("because the last looks at the program saw nobody wait for it"));
}

// Most wait for another lock of the same unit, whose looks saw nothing.
TEST(LockVerdicts, LooksAtTheGilSayNothingOfOtherLocks) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "python-with-lock", 8)
      .waits("app", WaitFor::Lock, "python-gil", 1)
      .unheld_gil("app", 2);
  EXPECT_EQ(sentence(host, "app"),
            "app: 9.0 threads wait for a lock (python-with-lock); who holds it is unknown, because "
            "nobody can see who holds a lock of its kind");
  host.unheld("app", 3, 0);
  EXPECT_THAT(sentence(host, "app"),
              HasSubstr("because it named nobody when it was looked at, during 3 waits"));
}

TEST(LockVerdicts, LooksAtOtherLocksSayNothingOfTheGil) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "python-gil", 8)
      .waits("app", WaitFor::Lock, "mutex", 1)
      .unheld("app", 0, 5);
  EXPECT_THAT(sentence(host, "app"),
              HasSubstr("because the last looks at the program saw nobody wait for it"));
}

// One worker in a long call of C, with a thread that waits for its GIL, and another one whose
// threads wait for a lock.
HandMadeInputs with_gil_holder(const std::string& largest, const std::string& other) {
  UnitHolder of_gil = holder(UnitHolder::Does::Runs);
  of_gil.lock = "the GIL of Python";
  of_gil.is_gil = true;
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, largest, 8)
      .waits("app", WaitFor::Lock, other, 1)
      .on("app", WaitFor::Lock, On::Unit, "app", 9)
      .held("app", of_gil);
  return host;
}

TEST(LockVerdicts, WhoHoldsTheGilHoldsNoOtherLock) {
  HandMadeInputs host = with_gil_holder("python-with-lock", "python-gil");
  EXPECT_THAT(sentence(host, "app"), Not(HasSubstr("thread refresh")));
  UnitHolder of_mutex = holder(UnitHolder::Does::Runs);
  of_mutex.thread = "flush";
  of_mutex.waiting = 1;
  host.held("app", of_mutex);
  EXPECT_THAT(sentence(host, "app"), HasSubstr("(python-with-lock, mutex) that thread flush "))
      << "although fewer wait for it";
}

TEST(LockVerdicts, WhoHoldsAnotherLockDoesNotHoldTheGil) {
  HandMadeInputs host = with_gil_holder("python-gil", "mutex");
  UnitHolder of_mutex = holder(UnitHolder::Does::Runs);
  of_mutex.thread = "flush";
  of_mutex.waiting = 40;
  host.held("app", of_mutex);
  EXPECT_THAT(sentence(host, "app"), HasSubstr("(GIL of Python) that thread refresh "));
}

// It never ends, and most of the others wait because of it.
TEST(LockVerdicts, ADeadlockWithTheGilIsToldInAnyCase) {
  HandMadeInputs host = with_gil_holder("mutex", "python-gil");
  UnitHolder& by = host.inputs.holders.rows.back();
  by.does = UnitHolder::Does::Deadlocked;
  by.circle = "refresh (tid 101), flush (tid 102)";
  EXPECT_THAT(sentence(host, "app"), HasSubstr("; a deadlock of refresh (tid 101)"));
}

// Others wait for more, but that ends.
TEST(LockVerdicts, ADeadlockIsToldInAnyCase) {
  UnitHolder deadlocked = holder(UnitHolder::Does::Deadlocked, WaitFor::Lock);
  deadlocked.circle = "refresh (tid 101), flush (tid 102)";
  deadlocked.waiting = 2;
  HandMadeInputs host = locked(deadlocked);
  UnitHolder busy = holder(UnitHolder::Does::Runs);
  busy.thread = "busy";
  busy.waiting = 40;
  host.held("app", busy).cpu("app", 1, 90).taken("app", By::Same, "", 90);
  WhyUnits units(host.made());
  const auto all = verdicts(units, 5);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[0].sentence, HasSubstr("app: 90 threads wait for a CPU: its own threads"));
  EXPECT_TRUE(all[0].is_main);
  EXPECT_THAT(all[1].sentence, HasSubstr("app: 3.0 threads wait for a lock (mutex) that thread "
                                         "refresh "));
  EXPECT_THAT(all[1].sentence, HasSubstr("; a deadlock of refresh (tid 101), flush (tid 102)"));
}

// On a host without units all is one.
TEST(LockVerdicts, ALargePartOfWhatAUnitWaitsHasAVerdictOfItsOwn) {
  const auto told = [](double threads) {
    HandMadeInputs host;
    host.waits("no unit (/)", WaitFor::Answer, "socket", 8)
        .waits("no unit (/)", WaitFor::Lock, "mutex", threads);
    return units_told(host);
  };
  EXPECT_THAT(told(2), ElementsAre("no unit (/)", "no unit (/)"));
  EXPECT_THAT(told(1.9), ElementsAre("no unit (/)"));
}

TEST(PastVerdicts, WhatIsOverIsToldAsPast) {
  HandMadeInputs host = shop();
  host.over("shopper", WaitFor::Answer);
  EXPECT_EQ(sentence(host, "shopper"),
            "shopper, until at most 12 s ago: 1.0 threads waited for an answer of edge (nginx); "
            "meanwhile edge waited for an answer of app (python3); meanwhile app waited for an "
            "answer of queue (redis-server); meanwhile queue waited for work from worker "
            "(python3); meanwhile worker waited for an answer of orders-db (postgres); meanwhile "
            "orders-db slept (postgresql-sleep)");
  HandMadeInputs gone = locked(holder(UnitHolder::Does::Runs));
  gone.over("app", static_cast<std::size_t>(WaitFor::Lock), true);
  EXPECT_EQ(sentence(gone, "app"),
            "app, gone by now, until at most 12 s ago: 3.0 threads waited for a lock (mutex) that "
            "thread refresh (tid 101 of python3, pid 100) held; that thread ran");
  HandMadeInputs cpu;
  cpu.cpu("search", 0.1, 4).taken("search", By::Unit, "batch-etl", 3.32).over("search", kForCpu);
  EXPECT_EQ(sentence(cpu, "search"),
            "search, until at most 12 s ago: 4.0 threads waited for a CPU: batch-etl had it, "
            "83 % of the time");
}

TEST(PastVerdicts, WhatIsOverComesLastAndHidesNothingThatLasts) {
  HandMadeInputs host;
  host.waits("old", WaitFor::Answer, "", 9)
      .on("old", WaitFor::Answer, On::Unit, "new", 9)
      .over("old", WaitFor::Answer)
      .waits("new", WaitFor::Storage, "fsync", 1)
      .waits("third", WaitFor::Lock, "mutex", 0.5);
  EXPECT_THAT(units_told(host), ElementsAre("new", "third", "old"));
}

// Of two things that a unit waited for, the one that lasts, although it is the smaller one.
TEST(PastVerdicts, AUnitIsToldByWhatLasts) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Lock, "mutex", 5)
      .over("app", WaitFor::Lock)
      .waits("app", WaitFor::Storage, "fsync", 0.5);
  EXPECT_THAT(sentence(host, "app"), HasSubstr("app: 0.50 threads wait for storage (fsync)"));
  host.inputs.sites.rows.back().time.ns = 1e6;  // too little for a verdict
  EXPECT_THAT(sentence(host, "app"), HasSubstr("5.0 threads waited for a lock (mutex)"));
}

}  // namespace
}  // namespace offcpud
