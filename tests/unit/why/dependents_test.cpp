// SPDX-License-Identifier: Apache-2.0
#include "why/dependents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/why/hosts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using On = UnitPeer::On;
using By = UnitTaker::By;

std::vector<std::string> told(HandMadeInputs& host, const std::string& on) {
  WhyUnits units(host.made());
  std::vector<std::string> sentences;
  for (const Dependent& each : dependents_of(units, {on})) sentences.push_back(sentence_of(each));
  return sentences;
}

TEST(Dependents, WhoWaitsForAUnitIsNamed) {
  HandMadeInputs host;
  host.waits("backup", WaitFor::Lock, "file-lock", 0.9)
      .on("backup", WaitFor::Lock, On::Unit, "cleaner", 0.9)
      .waits("web", WaitFor::Answer, "", 2)
      .on("web", WaitFor::Answer, On::Unit, "cleaner", 1.5)
      .on("web", WaitFor::Answer, On::Unit, "db", 0.5)
      .waits("idle", WaitFor::Work, "", 1)
      .on("idle", WaitFor::Work, On::Unit, "cleaner", 1)
      .waits("small", WaitFor::Answer, "", 0.04)
      .on("small", WaitFor::Answer, On::Unit, "cleaner", 0.04)
      .cpu("search", 0.1, 0.6)
      .taken("search", By::Unit, "cleaner", 0.5);
  EXPECT_THAT(told(host, "cleaner"),
              ElementsAre("web waits for cleaner: 1.5 threads for an answer",
                          "backup waits for cleaner: 0.90 threads for a lock",
                          "search waits for a CPU that cleaner has: 0.50 threads"));
  host.over("web", WaitFor::Answer);
  EXPECT_EQ(told(host, "cleaner").back(), "web waited for cleaner: 1.5 threads for an answer");
  EXPECT_THAT(told(host, "web"), IsEmpty());
}

TEST(Dependents, WhoWaitsForADiskThatAUnitLoadsIsNamed) {
  HandMadeInputs host;
  host.waits("db", WaitFor::Storage, "fsync", 0.5)
      .on("db", WaitFor::Storage, On::Device, "vda", 0.5)
      .loads("vda", UnitLoad::By::Unit, "backup", 2.3, 85e6);
  EXPECT_THAT(told(host, "backup"),
              ElementsAre("db waits for device vda, which backup loads: 0.50 threads"));
  EXPECT_THAT(told(host, "db"), IsEmpty());
}

TEST(Dependents, ThoseOutsideOfAllUnitsAreSeveral) {
  HandMadeInputs host;
  host.waits("no unit (/)", WaitFor::Answer, "", 1)
      .on("no unit (/)", WaitFor::Answer, On::Unit, "db", 1)
      .cpu("db", 0.1, 0.2)
      .taken("db", By::Unit, "no unit (/)", 0.2);
  EXPECT_THAT(told(host, "db"),
              ElementsAre("processes outside of all units wait for db: 1.0 threads for an answer"));
  EXPECT_THAT(
      told(host, "no unit (/)"),
      ElementsAre("db waits for a CPU that processes outside of all units have: 0.20 threads"));
}

}  // namespace
}  // namespace offcpud
