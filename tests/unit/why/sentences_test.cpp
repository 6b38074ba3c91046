// SPDX-License-Identifier: Apache-2.0
// How verdicts are put into words, and which come first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/why/hosts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using test::holder;
using test::locked;
using test::sentence;
using test::units_told;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using On = UnitPeer::On;
using By = UnitTaker::By;

constexpr const char* kRoot = "no unit (/)";

// Its name would say that nobody waits.
TEST(Sentences, OutsideOfAllUnitsThereAreSeveral) {
  HandMadeInputs cpu;
  cpu.cpu(kRoot, 0.5, 1.1).taken(kRoot, By::Unit, "batch", 1).cpu("web", 0.1, 0.5);
  cpu.taken("web", By::Unit, kRoot, 0.5);
  EXPECT_EQ(sentence(cpu, kRoot),
            "processes outside of all units: 1.1 threads wait for a CPU: batch has it, 91 % of the "
            "time");
  EXPECT_EQ(sentence(cpu, "web"),
            "web: 0.50 threads wait for a CPU: processes outside of all units have it, 100 % of "
            "the time");
  HandMadeInputs own;
  own.cpu(kRoot, 0.5, 1.1).taken(kRoot, By::Same, "", 1);
  EXPECT_EQ(sentence(own, kRoot),
            "processes outside of all units: 1.1 threads wait for a CPU: others of them have it");
  HandMadeInputs chain;
  chain.waits("web", WaitFor::Answer, "", 1)
      .on("web", WaitFor::Answer, On::Unit, kRoot, 1, "nginx")
      .waits(kRoot, WaitFor::Storage, "fsync", 1)
      .on(kRoot, WaitFor::Storage, On::Device, "vda", 1)
      .loads("vda", UnitLoad::By::Unit, "backup", 2, 85e6);
  EXPECT_THAT(
      sentence(chain, "web"),
      HasSubstr(" of processes outside of all units (nginx); meanwhile processes outside of "
                "all units wait for storage (fsync) on device vda, which backup loads ("));
  HandMadeInputs disk;
  disk.waits("db", WaitFor::Storage, "fsync", 1)
      .on("db", WaitFor::Storage, On::Device, "vda", 1)
      .loads("vda", UnitLoad::By::Unit, kRoot, 2, 85e6);
  EXPECT_THAT(sentence(disk, "db"),
              HasSubstr(", which processes outside of all units load (100 %"));
  UnitHolder by = holder(UnitHolder::Does::Runs);
  by.by = kRoot;
  HandMadeInputs lock;
  lock.waits("app", WaitFor::Lock, "mutex", 1)
      .on("app", WaitFor::Lock, On::Unit, kRoot, 1)
      .held("app", by);
  EXPECT_EQ(sentence(lock, "app"),
            "app: 1.0 threads wait for a lock (mutex) that thread refresh (tid 101 of python3, pid "
            "100) outside of all units holds; that thread runs");
}

TEST(Sentences, NoNameOfAHolderIsToldTwice) {
  UnitHolder by = holder(UnitHolder::Does::Runs);
  by.thread = by.process;
  HandMadeInputs other = locked(by);
  EXPECT_THAT(sentence(other, "app"), HasSubstr(" that thread python3 (tid 101 of pid 100) holds"));
  by.tid = by.pid;
  HandMadeInputs main = locked(by);
  EXPECT_THAT(sentence(main, "app"),
              HasSubstr(" that the main thread of python3 (pid 100) holds; that thread runs"));
}

TEST(Sentences, WhatIsUnknownIsAskedByWhatIsWaitedFor) {
  const auto said = [](WaitFor wait_for, const std::string& site) {
    HandMadeInputs host;
    host.waits("app", wait_for, site, 1);
    return sentence(host, "app");
  };
  EXPECT_EQ(said(WaitFor::Stopped, "stopped"),
            "app: 1.0 threads wait to be continued; who stopped it is not recorded");
  EXPECT_EQ(said(WaitFor::Answer, "socket"),
            "app: 1.0 threads wait for an answer (socket); from whom is unknown, because the other "
            "end was not seen");
  EXPECT_EQ(
      said(WaitFor::Storage, "storage"),
      "app: 1.0 threads wait for storage; on which device is unknown, because its file was not "
      "seen: neither a page or block nor a descriptor of its call tells it");
  EXPECT_EQ(said(WaitFor::Memory, "reclaim"),
            "app: 1.0 threads wait for memory (reclaim); who has it is unknown, because memory has "
            "no owner; see memory.high and memory.max");
}

// A wait of 10 s and more, for which the last row of sites stands.
void last_is_stuck(HandMadeInputs& host) {
  host.inputs.sites.rows.back().lasting = 1;
  host.inputs.sites.rows.back().oldest.ns = 34'000'000'000;
}

TEST(Sentences, WhatALaterLookMayTellIsNotKnownYet) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Answer, "socket", 1);
  last_is_stuck(host);
  host.inputs.sites.rows.back().on_sockets = 1;
  EXPECT_THAT(sentence(host, "app"),
              EndsWith("; from whom is not known yet, because the other end was not seen so far: "
                       "ask again in a minute"));
}

// One that is stuck weighs as much as four that wait for moments.
TEST(Order, WhatIsStuckComesBeforeAsManyThatAreNot) {
  HandMadeInputs host;
  host.cpu("busy", 1, 3).waits("quick", WaitFor::Lock, "mutex", 2);
  host.waits("stuck", WaitFor::Lock, "file-lock", 0.9);
  EXPECT_THAT(units_told(host), ElementsAre("busy", "quick", "stuck"));
  last_is_stuck(host);
  EXPECT_THAT(units_told(host), ElementsAre("stuck", "busy", "quick"));
  host.inputs.sites.rows.back().oldest.ns = 9'000'000'000;
  EXPECT_THAT(units_told(host), ElementsAre("busy", "quick", "stuck"));
}

TEST(Order, AConvoyComesBeforeOneThatIsStuck) {
  const auto first = [](double convoy) {
    HandMadeInputs host;
    host.waits("convoy", WaitFor::Lock, "mutex", convoy).waits("stuck", WaitFor::Lock, "mutex", 1);
    last_is_stuck(host);
    return units_told(host).front();
  };
  EXPECT_EQ(first(3.9), "stuck");
  EXPECT_EQ(first(6.9), "convoy");
}

// Some wait so as long as they run.
TEST(Order, WhoWaitsForItsOwnPipelineIsNotStuck) {
  const auto first = [](const std::string& on) {
    HandMadeInputs host;
    host.cpu("busy", 1, 3).waits("tail", WaitFor::Answer, "pipe", 1);
    last_is_stuck(host);
    if (!on.empty()) host.on("tail", WaitFor::Answer, On::Unit, on, 1);
    return units_told(host).front();
  };
  EXPECT_EQ(first("db"), "tail");
  EXPECT_EQ(first("tail"), "busy");
  EXPECT_EQ(first(""), "busy");
}

}  // namespace
}  // namespace offcpud
