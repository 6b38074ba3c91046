// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_mount.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

const std::string kRootMount = "23 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n";

TEST(Cgroup2Mount, FindsTheMountOfAUnifiedHost) {
  EXPECT_EQ(cgroup2_mount(kRootMount + "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 "
                                       "cgroup2 rw,nsdelegate,memory_recursiveprot\n"),
            "/sys/fs/cgroup");
}

TEST(Cgroup2Mount, FindsTheV2HierarchyOfAHybridHost) {
  EXPECT_EQ(cgroup2_mount("31 23 0:28 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"
                          "32 31 0:29 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw\n"
                          "33 31 0:30 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
                          "34 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu\n"),
            "/sys/fs/cgroup/unified");
}

TEST(Cgroup2Mount, IsAbsentOnAHostWithVersionOneOnly) {
  EXPECT_EQ(cgroup2_mount(kRootMount), std::nullopt);
  EXPECT_EQ(cgroup2_mount("34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup2 rw,cpu\n"),
            std::nullopt);
  EXPECT_EQ(cgroup2_mount(""), std::nullopt);
}

TEST(Cgroup2Mount, AcceptsAnyNumberOfOptionalFields) {
  EXPECT_EQ(cgroup2_mount("35 24 0:30 / /none rw - cgroup2 cgroup2 rw\n"), "/none");
  EXPECT_EQ(
      cgroup2_mount("35 24 0:30 / /three rw shared:9 master:4 propagate_from:2 - cgroup2 c rw"),
      "/three");
}

TEST(Cgroup2Mount, PrefersTheShortestMountOfTheWholeHierarchy) {
  EXPECT_EQ(cgroup2_mount("40 24 0:30 /system.slice /cg rw - cgroup2 cgroup2 rw\n"
                          "41 24 0:30 / /var/lib/x/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                          "42 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                          "43 24 0:30 / /run/long/sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            "/sys/fs/cgroup");
}

TEST(Cgroup2Mount, FallsBackToAPartOfTheHierarchy) {
  EXPECT_EQ(cgroup2_mount("40 24 0:30 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            "/sys/fs/cgroup");
}

TEST(Cgroup2Mount, ResolvesOctalEscapes) {
  EXPECT_EQ(cgroup2_mount("40 24 0:30 / /a\\040b\\011c\\134d\\012 rw - cgroup2 cgroup2 rw\n"),
            "/a b\tc\\d\n");
  EXPECT_EQ(cgroup2_mount("40 24 0:30 / /x\\04\\999\\ rw - cgroup2 cgroup2 rw\n"), "/x\\04\\999\\");
}

TEST(Cgroup2Mount, SkipsLinesThatAreCutShort) {
  const std::string line = "40 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw";
  const std::size_t needed = line.find(" cgroup2 rw");
  for (std::size_t length = 0; length < needed; ++length) {
    EXPECT_EQ(cgroup2_mount(line.substr(0, length) + "\n"), std::nullopt) << length;
  }
  EXPECT_EQ(cgroup2_mount(line.substr(0, needed) + "\n"), "/sys/fs/cgroup");
}

}  // namespace
}  // namespace offcpud
