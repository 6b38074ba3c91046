// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "attribution/cgroup_mount.h"
#include "base/file_io.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<std::string> paths_of(const CgroupWalk& walk) {
  std::vector<std::string> paths;
  for (const FoundCgroup& cgroup : walk.found) paths.push_back(cgroup.path);
  return paths;
}

// Root may read everything; the test of a permission needs somebody who may not.
class AsNobody {
 public:
  AsNobody() : user_(::geteuid()) { changed_ = user_ == 0 && ::seteuid(65534) == 0; }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (changed_ && ::seteuid(user_) != 0) ::_exit(1);
  }

 private:
  uid_t user_;
  bool changed_ = false;
};

TEST(CgroupWalk, IdsAreTheInodesOfTheDirectories) {
  const TempTree tree({{"a/b/"}, {"c d:é/"}, {"cgroup.procs", "1\n"}});
  const auto walk = walk_cgroups(tree.root());
  ASSERT_TRUE(walk) << walk.error().message();
  EXPECT_THAT(paths_of(*walk), UnorderedElementsAre("/", "/a", "/a/b", "/c d:é"));
  EXPECT_THAT(walk->unread, IsEmpty());
  for (const FoundCgroup& cgroup : walk->found) {
    EXPECT_EQ(cgroup.id, tree.inode("." + cgroup.path)) << cgroup.path;
    const std::string parent = cgroup.path.substr(0, cgroup.path.rfind('/'));
    EXPECT_EQ(cgroup.parent_id, cgroup.path == "/" ? 0 : tree.inode("." + parent)) << cgroup.path;
  }
}

TEST(CgroupWalk, LeavesOutWhatIsNotADirectory) {
  TempTree tree({{"a/file", "text"}, {"top", ""}});
  ASSERT_EQ(::mkfifo((tree.root() / "fifo").c_str(), 0600), 0);
  const auto walk = walk_cgroups(tree.root());
  ASSERT_TRUE(walk);
  EXPECT_THAT(paths_of(*walk), ElementsAre("/", "/a"));
}

TEST(CgroupWalk, DoesNotFollowSymbolicLinksInside) {
  TempTree tree({{"a/"}});
  tree.put_link("to_a", "a");
  tree.put_link("a/loop", "..");
  tree.put_link("dangling", "nowhere");
  const auto walk = walk_cgroups(tree.root());
  ASSERT_TRUE(walk);
  EXPECT_THAT(paths_of(*walk), ElementsAre("/", "/a"));
  EXPECT_THAT(walk->unread, IsEmpty());
}

TEST(CgroupWalk, TheRootMayBeASymbolicLink) {
  TempTree tree({{"real/a/"}});
  tree.put_link("link", "real");
  const auto walk = walk_cgroups(tree.root() / "link");
  ASSERT_TRUE(walk);
  EXPECT_THAT(paths_of(*walk), ElementsAre("/", "/a"));
}

TEST(CgroupWalk, NamesADirectoryItMayNotReadButNothingBelow) {
  TempTree tree({{"closed/below/"}, {"open/below/"}});
  tree.set_mode(".", 0755);
  tree.set_mode("closed", 0);
  const AsNobody nobody;
  if (::access((tree.root() / "closed").c_str(), R_OK) == 0 && ::geteuid() == 0) {
    GTEST_SKIP() << "root cannot become nobody here";
  }
  const auto walk = walk_cgroups(tree.root());
  ASSERT_TRUE(walk) << walk.error().message();
  EXPECT_THAT(paths_of(*walk), UnorderedElementsAre("/", "/closed", "/open", "/open/below"));
  EXPECT_THAT(walk->unread, ElementsAre("/closed"));
}

TEST(CgroupWalk, StopsAtTheGreatestDepth) {
  std::string deep;
  for (std::size_t i = 0; i < kMaxCgroupDepth + 3; ++i) deep += "d/";
  TempTree tree({{deep}});
  const auto walk = walk_cgroups(tree.root());
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->found.size(), kMaxCgroupDepth + 1);
  ASSERT_EQ(walk->unread.size(), 1U);
  EXPECT_EQ(cgroup_depth(walk->unread.front()), kMaxCgroupDepth + 1);
}

TEST(CgroupWalk, DoesNotCrossIntoOtherFileSystems) {
  struct stat dev {};
  struct stat shm {};
  if (::stat("/dev", &dev) != 0 || ::stat("/dev/shm", &shm) != 0 || dev.st_dev == shm.st_dev) {
    GTEST_SKIP() << "/dev/shm is no mount of its own here";
  }
  const auto walk = walk_cgroups("/dev");
  ASSERT_TRUE(walk) << walk.error().message();
  EXPECT_THAT(paths_of(*walk), testing::Not(testing::Contains("/shm")));
  EXPECT_THAT(walk->unread, testing::Contains("/shm"));
}

TEST(CgroupWalk, AnUnreadableRootIsAnError) {
  const TempTree tree({{"file", ""}});
  const auto missing = walk_cgroups(tree.root() / "missing");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), testing::EndsWith("missing': No such file or directory"));
  EXPECT_FALSE(walk_cgroups(tree.root() / "file"));
}

TEST(CgroupWalk, EveryIdOfTheRealHierarchyIsWhatStatSays) {
  const auto mountinfo = read_file("/proc/self/mountinfo", 16 << 20);
  const auto mount = mountinfo ? cgroup2_mount(*mountinfo) : std::nullopt;
  if (!mount) GTEST_SKIP() << "no cgroup2 file system is mounted";
  const auto walk = walk_cgroups(*mount);
  if (!walk) GTEST_SKIP() << walk.error().message();
  for (const FoundCgroup& cgroup : walk->found) {
    struct stat info {};
    if (::stat((mount->native() + cgroup.path).c_str(), &info) != 0) continue;  // gone since
    EXPECT_EQ(cgroup.id, info.st_ino) << cgroup.path;
  }
}

}  // namespace
}  // namespace offcpud
