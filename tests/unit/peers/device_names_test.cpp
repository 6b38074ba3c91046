// SPDX-License-Identifier: Apache-2.0
#include "peers/device_names.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_tree.h"

namespace offcpud::test {
namespace {

TEST(DeviceNames, AreThoseOfSysfs) {
  const TempTree tree;
  std::filesystem::create_symlink("../../devices/pci0000:00/virtio1/block/vda/vda1",
                                  tree.root() / "254:1");
  DeviceNames names(tree.root().string());
  EXPECT_EQ(names.of(254U << 20 | 1U), "vda1");
  EXPECT_EQ(names.of(45), "0:45") << "a file system without a device";
}

TEST(DeviceNames, AreAskedForOnce) {
  const TempTree tree;
  DeviceNames names(tree.root().string());
  EXPECT_EQ(names.of(8U << 20), "8:0");
  std::filesystem::create_symlink("../sda", tree.root() / "8:0");
  EXPECT_EQ(names.of(8U << 20), "8:0");
  for (std::uint32_t minor = 1; minor <= DeviceNames::kMost; ++minor) (void)names.of(minor);
  EXPECT_EQ(names.of(8U << 20), "sda") << "all are asked for anew";
}

}  // namespace
}  // namespace offcpud::test
