// SPDX-License-Identifier: Apache-2.0
#include "peers/device_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_tree.h"

namespace offcpud::test {
namespace {

TEST(DeviceNames, AreThoseOfSysfs) {
  const TempTree tree;
  std::filesystem::create_symlink("../../devices/pci0000:00/virtio1/block/vda/vda1",
                                  tree.root() / "254:1");
  DeviceNames names(tree.root().string(), (tree.root() / "none").string());
  EXPECT_EQ(names.of(254U << 20 | 1U), "vda1");
  EXPECT_EQ(names.of(45), "0:45") << "a file system without a device, of which nothing is known";
}

TEST(DeviceNames, OfFileSystemsWithoutADeviceAreTheirTypeAndSource) {
  const TempTree tree;
  std::ofstream(tree.root() / "mountinfo")
      << "22 1 0:45 / /mnt/a\\040b rw - nfs4 files:/srv/my\\040data rw,vers=4.2\n"
         "23 1 0:46 / /mnt/c rw shared:3 - fuse.sshfs ann@far: rw\n"
         "24 1 0:47 / /tmp rw - tmpfs tmpfs rw\n"
         "25 1 0:48 / /x rw - cifs "
      << std::string(300, 's') << " rw\nno line\n";
  DeviceNames names(tree.root().string(), (tree.root() / "mountinfo").string());
  EXPECT_EQ(names.of(45), "nfs4 files:/srv/my data");
  EXPECT_EQ(names.of(46), "fuse.sshfs") << "its user chose the rest";
  EXPECT_EQ(names.of(47), "tmpfs");
  EXPECT_EQ(names.of(48).size(), 96U);
  EXPECT_EQ(names.of(49), "0:49");
  std::ofstream(tree.root() / "mountinfo") << "23 1 0:45 / /mnt/c rw - fuse.sshfs ann@far: rw\n";
  EXPECT_EQ(names.of(45), "nfs4 files:/srv/my data");
  names.forget_mounts();
  EXPECT_EQ(names.of(45), "fuse.sshfs") << "another one has the number";
}

TEST(DeviceNames, AreAskedForOnce) {
  const TempTree tree;
  DeviceNames names(tree.root().string());
  EXPECT_EQ(names.of(8U << 20), "8:0");
  std::filesystem::create_symlink("../sda", tree.root() / "8:0");
  EXPECT_EQ(names.of(8U << 20), "8:0");
  for (std::uint32_t minor = 1; minor <= DeviceNames::kMost; ++minor) {
    (void)names.of(9U << 20 | minor);
  }
  EXPECT_EQ(names.of(8U << 20), "sda") << "all are asked for anew";
}

}  // namespace
}  // namespace offcpud::test
