// SPDX-License-Identifier: Apache-2.0
#include "peers/whole_disks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// /sys/class/block as the kernel lays it out: a link for each device and partition.
class WholeDisksTest : public testing::Test {
 protected:
  void add_disk(const std::string& name) { add(name, "devices/block/" + name); }
  void add_partition(const std::string& disk, const std::string& name) {
    add(name, "devices/block/" + disk + "/" + name);
    tree_.put({{"devices/block/" + disk + "/" + name + "/partition", "1\n"}});
  }
  void put_below(const std::string& upper, const std::string& lower) {
    tree_.put_link("devices/block/" + upper + "/slaves/" + lower, "../../" + lower);
  }
  std::vector<std::string> disks_of(const std::string& device) {
    return whole_disks(device, (tree_.root() / "class").string());
  }

  TempTree tree_{{"class/"}};

 private:
  void add(const std::string& name, const std::string& path) {
    tree_.put({{path + "/slaves/"}});
    tree_.put_link("class/" + name, "../" + path);
  }
};

TEST_F(WholeDisksTest, APartitionIsOnItsDisk) {
  add_disk("nvme0n1");
  add_partition("nvme0n1", "nvme0n1p2");
  EXPECT_THAT(disks_of("nvme0n1p2"), ElementsAre("nvme0n1"));
  EXPECT_THAT(disks_of("nvme0n1"), ElementsAre("nvme0n1"));
}

TEST_F(WholeDisksTest, LayersAreFollowedDownToTheDisks) {
  add_disk("sda");
  add_disk("sdb");
  add_partition("sda", "sda1");
  add_disk("md0");
  add_disk("dm-3");
  put_below("md0", "sda1");
  put_below("md0", "sdb");
  put_below("dm-3", "md0");
  EXPECT_THAT(disks_of("dm-3"), ElementsAre("sda", "sdb"));
}

TEST_F(WholeDisksTest, WhatIsNoDeviceHasNone) {
  add_disk("vda");
  EXPECT_THAT(disks_of("vdb"), IsEmpty());
  EXPECT_THAT(disks_of("nfs4 files:/srv"), IsEmpty());
  EXPECT_THAT(disks_of("../vda"), IsEmpty());
  EXPECT_THAT(disks_of(""), IsEmpty());
}

TEST_F(WholeDisksTest, CirclesAndCrowdsEnd) {
  add_disk("dm-0");
  add_disk("dm-1");
  put_below("dm-0", "dm-1");
  put_below("dm-1", "dm-0");
  EXPECT_THAT(disks_of("dm-0"), SizeIs(1));
  add_disk("md9");
  for (std::size_t i = 0; i < kMostDisks + 20; ++i) {
    add_disk("sd" + std::to_string(i));
    put_below("md9", "sd" + std::to_string(i));
  }
  EXPECT_THAT(disks_of("md9"), SizeIs(kMostDisks));
}

TEST(DiskName, IsThatOfSysfsAndOfNoSinglePath) {
  EXPECT_EQ(disk_name("vda"), "vda");
  EXPECT_EQ(disk_name("cciss/c0d0"), "cciss!c0d0");
  EXPECT_EQ(disk_name("nvme0n1"), "nvme0n1");
  EXPECT_EQ(disk_name("nvme0c1n1"), "nvme0n1");
  EXPECT_EQ(disk_name("nvme12c34n56"), "nvme12n56");
  EXPECT_EQ(disk_name("nvmec1n1"), "nvmec1n1") << "no number of a controller";
  EXPECT_EQ(disk_name("nvme0cxn1"), "nvme0cxn1");
}

}  // namespace
}  // namespace offcpud
