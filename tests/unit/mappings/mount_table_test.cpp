// SPDX-License-Identifier: Apache-2.0
#include "mappings/mount_table.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

using Answer = MountTable::Answer;

constexpr const char* kMounts =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "40 27 0:40 / /srv rw shared:5 master:2 - nfs4 server:/srv rw,hard\n"
    "41 40 0:41 / /srv/local rw - tmpfs tmpfs rw\n"
    "42 27 0:42 / /home/me/with\\040blank rw - fuse.sshfs me@host: rw\n"
    "43 27 0:43 / /over rw - ext4 /dev/vdb rw\n"
    "44 43 0:44 / /over rw - fuse mine rw\n";

TEST(MountTable, PathsBelongToTheDeepestMount) {
  const auto mounts = MountTable::parse(kMounts);
  EXPECT_EQ(mounts.of_path("/usr/bin/true"), Answer::Local);
  EXPECT_EQ(mounts.of_path("/srv/bin/program"), Answer::Remote);
  EXPECT_EQ(mounts.of_path("/srv/local/program"), Answer::Local);
  EXPECT_EQ(mounts.of_path("/srvx/program"), Answer::Local);
  EXPECT_EQ(mounts.of_path("/home/me/with blank/program"), Answer::Remote);
}

TEST(MountTable, TheLaterMountCoversTheEarlierOne) {
  EXPECT_EQ(MountTable::parse(kMounts).of_path("/over/program"), Answer::Remote);
}

TEST(MountTable, MountsByNumber) {
  const auto mounts = MountTable::parse(kMounts);
  EXPECT_EQ(mounts.of_mount(27), Answer::Local);
  EXPECT_EQ(mounts.of_mount(40), Answer::Remote);
  EXPECT_EQ(mounts.of_mount(43), Answer::Local);
  EXPECT_EQ(mounts.of_mount(99), Answer::Unknown);
}

TEST(MountTable, WhatMakesNoSenseIsLeftOut) {
  const auto mounts =
      MountTable::parse("\nabc\n12\n13 1 0:1 / /x rw - \n14 1 0:1 / / rw\n-1 - -\n");
  EXPECT_EQ(mounts.of_path("/x"), Answer::Unknown);
  EXPECT_EQ(mounts.of_mount(13), Answer::Unknown);
}

}  // namespace
}  // namespace offcpud
