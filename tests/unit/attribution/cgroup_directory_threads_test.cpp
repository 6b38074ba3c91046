// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "attribution/cgroup_directory.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kFirst = 1ULL << 40;  // no directory has this inode
constexpr std::uint64_t kCgroups = 200;

TEST(CgroupDirectoryThreads, OneAsksForPathsWhileTheOtherChangesThem) {
  const TempTree tree;
  CgroupDirectory directory(tree.root());
  MonotonicTime now{std::chrono::hours(1)};
  ASSERT_TRUE(directory.rescan(now));
  std::atomic<bool> asked = false, changed = false;
  std::jthread other([&] {
    do {
      for (std::uint64_t id = kFirst; id < kFirst + kCgroups; ++id) {
        const auto path = directory.find(id);
        EXPECT_TRUE(!path || *path == "/" + std::to_string(id));
      }
      asked = true;
    } while (!changed);
  });
  while (!asked) std::this_thread::yield();
  for (std::uint64_t id = kFirst; id < kFirst + kCgroups; ++id) {
    directory.apply({CgroupChange::Kind::Created, id, tree.inode("."), std::to_string(id)}, now);
    ASSERT_TRUE(directory.find(id));
    ASSERT_TRUE(directory.rescan(now));
    directory.apply({CgroupChange::Kind::Removed, id, 0, ""}, now);
    now += std::chrono::seconds(30);
    directory.forget_removed(now);
  }
  changed = true;
}

}  // namespace
}  // namespace offcpud
