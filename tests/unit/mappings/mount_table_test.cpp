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

TEST(MountTable, OnlyWhatIsKnownToAnswerByItselfIsLocal) {
  const auto answer = [](const std::string& type) {
    return MountTable::parse("7 1 0:1 / / rw - " + type + " source rw\n").of_mount(7);
  };
  for (const char* type : {"ext4", "xfs", "btrfs", "tmpfs", "zfs", "erofs"}) {
    EXPECT_EQ(answer(type), Answer::Local) << type;
  }
  for (const char* type : {"fuse", "fuseblk", "fuse.sshfs", "fuseblk.ntfs", "nfs4", "autofs"}) {
    EXPECT_EQ(answer(type), Answer::Remote) << type;
  }
  for (const char* type : {"overlay", "virtiofs", "ecryptfs", "of_next_year"}) {
    EXPECT_EQ(answer(type), Answer::Other) << type;
  }
}

// What overlayfs lies on decides.
TEST(MountTable, AnOverlayIsLocalIfAllItsLayersAre) {
  const auto layers = MountTable::parse(kMounts);
  const auto is_local = [&](const std::string& options) {
    const auto mounts =
        MountTable::parse("50 1 0:50 / / rw,relatime - overlay overlay rw," + options + "\n");
    return mounts.is_local_overlay(50, layers);
  };
  EXPECT_TRUE(is_local("lowerdir=/var/a:/var/b,upperdir=/var/u,workdir=/var/w"));
  EXPECT_TRUE(is_local("lowerdir+=/var/a,lowerdir+=/var/b,datadir+=/var/c"));
  EXPECT_TRUE(is_local("lowerdir=l/A:l/B,upperdir=/var/u"));
  EXPECT_FALSE(is_local("lowerdir=/var/a:/srv/b,upperdir=/var/u,workdir=/var/w"));
  EXPECT_FALSE(is_local("lowerdir=/var/a,upperdir=/srv/u"));
  EXPECT_FALSE(is_local("lowerdir=/var/a::/over/data"));
  EXPECT_FALSE(is_local("lowerdir+=/var/a,datadir+=/over/c"));
  EXPECT_FALSE(is_local("lowerdir=/var/a\\134:b,upperdir=/var/u"));  // a colon in a name
  EXPECT_FALSE(is_local("lowerdir=l/A:l/B,upperdir=u"));             // nobody knows where
  EXPECT_FALSE(is_local("redirect_dir=on"));
  EXPECT_FALSE(layers.is_local_overlay(27, layers));  // is none
  EXPECT_FALSE(layers.is_local_overlay(99, layers));
}

TEST(MountTable, WhatMakesNoSenseIsLeftOut) {
  const auto mounts =
      MountTable::parse("\nabc\n12\n13 1 0:1 / /x rw - \n14 1 0:1 / / rw\n-1 - -\n");
  EXPECT_EQ(mounts.of_path("/x"), Answer::Unknown);
  EXPECT_EQ(mounts.of_mount(13), Answer::Unknown);
}

}  // namespace
}  // namespace offcpud
