// SPDX-License-Identifier: Apache-2.0
#include "why/device_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/why/inputs.h"
#include "why/verdicts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using ::testing::EndsWith;
using ::testing::SizeIs;
using On = UnitPeer::On;
using LoadedBy = UnitLoad::By;

// A database waits half of the time for an fsync on vda.
HandMadeInputs database() {
  HandMadeInputs host;
  host.waits("db", WaitFor::Storage, "fsync", 0.5)
      .on("db", WaitFor::Storage, On::Device, "vda", 0.5);
  return host;
}

WhyVerdict verdict(HandMadeInputs& host, const std::string& unit = "db") {
  WhyUnits units(host.made());
  return verdict_of(units, unit);
}

TEST(DeviceLoad, TheUnitThatLoadsADiskMostIsToBlame) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Unit, "backup", 2.3, 85e6, 5e3)
      .loads("vda", LoadedBy::Unit, "db", 0.1, 0.2e6);
  host.loads("vda", LoadedBy::Kernel, "", 0.1, 1e6)
      .loads("vdb", LoadedBy::Unit, "other", 30, 900e6);
  const WhyVerdict found = verdict(host);
  EXPECT_EQ(found.sentence,
            "db: 0.50 threads wait for storage (fsync) on device vda, which backup loads (92 % of "
            "the time of the device's requests, 85 MB/s written)");
  EXPECT_EQ(found.culprit, "backup");
  ASSERT_THAT(found.path.hops, SizeIs(3));
  EXPECT_EQ(found.path.hops[2].does, WhyHop::Does::Loads);
  EXPECT_FALSE(found.path.hops[2].attributed);
}

TEST(DeviceLoad, NoWaitIsAttributedToWhoLoads) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Unit, "backup", 2, 85e6);
  const UnitCauses tree = causes_of(host.made(), "db");
  const Cause& device = tree.causes.at(0).parts.at(0);
  EXPECT_EQ(device.kind, Cause::Kind::Device);
  EXPECT_TRUE(device.parts.empty());
  ASSERT_TRUE(device.load);
  EXPECT_EQ(device.load->parts.at(0).unit, "backup");
  EXPECT_DOUBLE_EQ(device.load->parts.at(0).share, 1);
  EXPECT_DOUBLE_EQ(device.load->at_a_time, 2);
}

TEST(DeviceLoad, WhoLoadsADiskHimselfIsToldSo) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Unit, "db", 3, 20e6, 5e6)
      .loads("vda", LoadedBy::Unit, "backup", 1, 9e6);
  const WhyVerdict found = verdict(host);
  EXPECT_THAT(found.sentence, EndsWith(" on device vda, which it loads itself (75 % of the time of "
                                       "the device's requests, 5.0 MB/s read, 20 MB/s written)"));
  EXPECT_EQ(found.culprit, "vda") << "backup has all that others do, but less than db itself";
}

TEST(DeviceLoad, WhoDoesHardlyMoreThanTheWaitingUnitIsNotToBlame) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Unit, "backup", 1.5, 9e6).loads("vda", LoadedBy::Unit, "db", 1, 2e6);
  const WhyVerdict found = verdict(host);
  EXPECT_THAT(found.sentence, EndsWith(", which several load, most of all backup (60 % of the time "
                                       "of the device's requests, 9.0 MB/s written)"));
  EXPECT_EQ(found.culprit, "vda");
}

// Its requests are those of its unit, as far as is known.
TEST(DeviceLoad, TheUnitOfAProcessIsItsOwn) {
  HandMadeInputs host;
  host.inputs.process = "postgres (pid 7)";
  host.inputs.unit_of_process = "db";
  host.waits("postgres (pid 7)", WaitFor::Storage, "fsync", 0.5)
      .on("postgres (pid 7)", WaitFor::Storage, On::Device, "vda", 0.5)
      .loads("vda", LoadedBy::Unit, "db", 3, 20e6);
  EXPECT_THAT(
      verdict(host, "postgres (pid 7)").sentence,
      EndsWith(" on device vda, which its own unit loads (100 % of the time of the device's "
               "requests, 20 MB/s written)"));
}

TEST(DeviceLoad, SeveralThatShareADiskAreNotToBlame) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Unit, "a", 1, 1e6).loads("vda", LoadedBy::Unit, "b", 0.8, 1e6);
  host.loads("vda", LoadedBy::Unit, "c", 0.6, 1e6);
  const WhyVerdict found = verdict(host);
  EXPECT_THAT(found.sentence, EndsWith(", which several load, most of all a (42 % of the time of "
                                       "the device's requests, 1.0 MB/s written)"));
  EXPECT_EQ(found.culprit, "vda");
}

TEST(DeviceLoad, OfWriteBackNobodyKnowsForWhom) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Kernel, "", 4, 200e6).loads("vda", LoadedBy::Unit, "a", 1, 1e6);
  const WhyVerdict found = verdict(host);
  EXPECT_THAT(found.sentence,
              EndsWith(", which the kernel loads with write-back and journals (80 % of the time of "
                       "the device's requests, 200 MB/s written), for whom nobody knows"));
  EXPECT_EQ(found.culprit, "vda");
}

TEST(DeviceLoad, ADiskWithLittleToDoHasNobodyToBlame) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Unit, "backup", 0.04, 1e4);
  const WhyVerdict found = verdict(host);
  EXPECT_THAT(found.sentence, EndsWith(", which has little to do: 0.04 requests at a time"));
  EXPECT_EQ(found.culprit, "vda");
}

// io.stat has no times.
TEST(DeviceLoad, WithoutTimesBytesDecide) {
  HandMadeInputs host = database();
  host.loads("vda", LoadedBy::Unit, "backup", 0, 60e6, 30e6)
      .loads("vda", LoadedBy::Unit, "db", 0, 10e6);
  const WhyVerdict found = verdict(host);
  EXPECT_THAT(found.sentence,
              EndsWith(", which backup loads (90 % of the device's bytes, 30 MB/s read, "
                       "60 MB/s written)"));
  EXPECT_EQ(found.culprit, "backup");
  HandMadeInputs idle = database();
  idle.loads("vda", LoadedBy::Unit, "backup", 0, 1e5);
  EXPECT_EQ(verdict(idle).culprit, "vda");
}

TEST(DeviceLoad, WhatIsNotCountedIsSaid) {
  HandMadeInputs off = database();
  off.inputs.loads = {.rows = {}, .missing = "nobody counts that"};
  EXPECT_THAT(verdict(off).sentence,
              EndsWith(" on device vda; who loads it is unknown, because nobody counts that"));
  HandMadeInputs remote = database();
  remote.loads("vdb", LoadedBy::Unit, "backup", 2, 85e6);
  EXPECT_THAT(verdict(remote).sentence,
              EndsWith("; who loads it is unknown, because this host counts no requests to it"));
}

TEST(DeviceLoad, OfFuseSomebodyServesItOrNobodyKnows) {
  HandMadeInputs host;
  host.waits("reports", WaitFor::Storage, "network-file-system", 1)
      .on("reports", WaitFor::Storage, On::Device, "fuse.sshfs files:/srv", 1)
      .loads("vdb", LoadedBy::Unit, "backup", 2, 85e6);
  EXPECT_THAT(verdict(host, "reports").sentence,
              EndsWith(" is unknown, because no process alone is known to serve it"));
}

// Its own wait for the disk is not explained by what it does to another's.
TEST(DeviceLoad, WhoLoadsADiskKeepsAVerdictOfItsOwn) {
  HandMadeInputs host = database();
  host.waits("backup", WaitFor::Storage, "direct", 0.6)
      .on("backup", WaitFor::Storage, On::Device, "vda", 0.6)
      .loads("vda", LoadedBy::Unit, "backup", 2, 85e6);
  WhyUnits units(host.made());
  EXPECT_THAT(verdicts(units, 10), SizeIs(2));
}

TEST(DeviceLoad, FewPartsAreShown) {
  HandMadeInputs host = database();
  for (int i = 0; i < 20; ++i) host.loads("vda", LoadedBy::Unit, "u" + std::to_string(i), 1, 1e6);
  const DeviceLoad load = load_of(host.made(), "vda", "db");
  ASSERT_THAT(load.parts, SizeIs(6));
  EXPECT_EQ(load.parts.back().kind, LoadedBy::Others);
  double share = 0;
  for (const DeviceLoad::Part& part : load.parts) share += part.share;
  EXPECT_NEAR(share, 1, 1e-9);
}

}  // namespace
}  // namespace offcpud
