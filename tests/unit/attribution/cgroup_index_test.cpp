// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_index.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "support/temp_tree.h"
#include "support/times.h"

namespace offcpud {
namespace {

using test::at;
using Kind = CgroupChange::Kind;

constexpr std::uint64_t kRoot = 1;

// An index that knows the root only, and events with ids as the kernel gives them: rising.
class CgroupIndexEvents : public testing::Test {
 protected:
  CgroupIndexEvents() { index_.apply(CgroupWalk{{{kRoot, 0, "/"}}, {}}, at(0)); }

  void create(std::uint64_t id, std::uint64_t parent, const std::string& name, int now = 1) {
    index_.apply({Kind::Created, id, parent, name}, at(now));
  }
  void remove(std::uint64_t id, int now) { index_.apply({Kind::Removed, id, 0, {}}, at(now)); }

  std::string path_of(std::uint64_t id) const {
    const CgroupEntry* entry = index_.find(id);
    return entry == nullptr ? "unknown" : entry->path;
  }
  bool is_live(std::uint64_t id) const {
    const CgroupEntry* entry = index_.find(id);
    return entry != nullptr && !entry->removed;
  }

  CgroupIndex index_;
};

TEST_F(CgroupIndexEvents, NamesWhatIsCreated) {
  create(5, kRoot, "a b");
  create(6, 5, "c:é");
  EXPECT_EQ(path_of(5), "/a b");
  EXPECT_EQ(path_of(6), "/a b/c:é");
  EXPECT_EQ(index_.find(6)->parent_id, 5U);
  EXPECT_FALSE(index_.find(6)->removed);
  EXPECT_EQ(index_.size(), 3U);
}

TEST_F(CgroupIndexEvents, NamesThatLookAlikeOnceCleanedHaveTheirOwnPaths) {
  create(5, kRoot, "bad\xff");
  create(6, kRoot, "bad\xfe");
  create(7, kRoot, "bad\uFFFD");
  EXPECT_EQ(path_of(5), "/bad\uFFFD//5");
  EXPECT_EQ(path_of(6), "/bad\uFFFD//6");
  EXPECT_EQ(path_of(7), "/bad\uFFFD");
  EXPECT_TRUE(is_live(5) && is_live(6) && is_live(7));
  create(8, 5, "child");
  EXPECT_EQ(path_of(8), "/bad\uFFFD//5/child");
  remove(5, 2);
  EXPECT_EQ(index_.nearest_live_ancestor("/bad\uFFFD//5"), "/bad\uFFFD");
}

TEST_F(CgroupIndexEvents, RemovedCgroupKeepsItsName) {
  create(5, kRoot, "a");
  remove(5, 7);
  EXPECT_EQ(path_of(5), "/a");
  EXPECT_EQ(index_.find(5)->removed, at(7));
}

TEST_F(CgroupIndexEvents, FirstSightOfTheRemovalCounts) {
  create(5, kRoot, "a");
  remove(5, 7);
  remove(5, 9);
  EXPECT_EQ(index_.find(5)->removed, at(7));
}

TEST_F(CgroupIndexEvents, EndOfAnUnknownCgroupMeansNothing) {
  remove(99, 1);
  EXPECT_EQ(index_.size(), 1U);
  EXPECT_EQ(index_.unplaced_events(), 0U);
}

TEST_F(CgroupIndexEvents, RecreatedPathHasBothIds) {
  create(5, kRoot, "a");
  remove(5, 2);
  create(9, kRoot, "a", 3);
  EXPECT_EQ(path_of(5), "/a");
  EXPECT_EQ(path_of(9), "/a");
  EXPECT_FALSE(is_live(5));
  EXPECT_TRUE(is_live(9));
  EXPECT_EQ(index_.nearest_live_ancestor("/a/b"), "/a");
}

TEST_F(CgroupIndexEvents, SuccessorEndsAPredecessorWhoseRemovalWasMissed) {
  create(5, kRoot, "a");
  create(9, kRoot, "a", 3);
  EXPECT_EQ(index_.find(5)->removed, at(3));
  remove(5, 4);
  EXPECT_EQ(index_.find(5)->removed, at(3));
  EXPECT_EQ(index_.nearest_live_ancestor("/a/b"), "/a");
}

TEST_F(CgroupIndexEvents, LateEventsDoNotHarmASuccessorThatAWalkFound) {
  index_.apply(CgroupWalk{{{kRoot, 0, "/"}, {9, kRoot, "/a"}}, {}}, at(2));
  create(5, kRoot, "a", 3);
  remove(5, 3);
  create(9, kRoot, "a", 3);
  EXPECT_EQ(path_of(5), "/a");
  EXPECT_FALSE(is_live(5));
  EXPECT_TRUE(is_live(9));
  EXPECT_EQ(index_.nearest_live_ancestor("/a/b"), "/a");
}

TEST_F(CgroupIndexEvents, CountsEventsItCannotPlace) {
  create(5, 77, "orphan");
  create(6, 0, "another hierarchy's root");
  for (const std::string name : {"", ".", "..", "a/b", "/"}) create(7, kRoot, name);
  create(8, kRoot, std::string("a\0b", 3));
  EXPECT_EQ(index_.size(), 1U);
  EXPECT_EQ(index_.unplaced_events(), 8U);
}

TEST_F(CgroupIndexEvents, BoundsTheDepth) {
  std::uint64_t id = kRoot;
  for (std::size_t i = 0; i < kMaxCgroupDepth + 5; ++i, ++id) create(id + 1, id, "d");
  EXPECT_EQ(index_.size(), kMaxCgroupDepth + 1);
  EXPECT_EQ(index_.unplaced_events(), 5U);
}

TEST_F(CgroupIndexEvents, ForgetsWhatHasLingered) {
  create(5, kRoot, "a");
  create(6, kRoot, "b");
  create(7, kRoot, "c");
  remove(5, 10);
  remove(6, 20);
  index_.forget_removed(at(9));
  EXPECT_EQ(path_of(5), "/a");
  index_.forget_removed(at(10));
  EXPECT_EQ(path_of(5), "unknown");
  EXPECT_EQ(index_.find(5), nullptr);
  index_.forget_removed(at(100));
  EXPECT_EQ(path_of(6), "unknown");
  EXPECT_TRUE(is_live(7));
}

TEST_F(CgroupIndexEvents, AncestorIsTheNearestLiveOne) {
  create(5, kRoot, "a");
  create(6, 5, "b");
  create(7, 6, "c");
  EXPECT_EQ(index_.nearest_live_ancestor("/a/b/c"), "/a/b");
  remove(7, 2);
  remove(6, 2);
  EXPECT_EQ(index_.nearest_live_ancestor("/a/b/c"), "/a");
  EXPECT_EQ(index_.nearest_live_ancestor("/a"), "/");
  for (const std::string path : {"/", "", "a", "//", "/x/y"}) {
    EXPECT_EQ(index_.nearest_live_ancestor(path), "/") << path;
  }
}

TEST_F(CgroupIndexEvents, WalkNeverResurrectsAnId) {
  create(5, kRoot, "a");
  remove(5, 2);
  index_.apply(CgroupWalk{{{kRoot, 0, "/"}, {5, kRoot, "/a"}}, {}}, at(3));
  EXPECT_EQ(index_.find(5)->removed, at(2));
  EXPECT_EQ(index_.nearest_live_ancestor("/a/b"), "/");
}

// The kernel tells of a cgroup before its directory shows.
TEST_F(CgroupIndexEvents, OneWalkWithoutACgroupDoesNotEndIt) {
  create(5, kRoot, "a");
  index_.apply(CgroupWalk{{{kRoot, 0, "/"}}, {}}, at(3));
  EXPECT_TRUE(is_live(5));
  index_.apply(CgroupWalk{{{kRoot, 0, "/"}, {5, kRoot, "/a"}}, {}}, at(4));
  index_.apply(CgroupWalk{{{kRoot, 0, "/"}}, {}}, at(5));
  EXPECT_TRUE(is_live(5));
}

TEST_F(CgroupIndexEvents, WalkDoesNotEndWhatItCouldNotSee) {
  create(5, kRoot, "a");
  create(6, 5, "b");
  create(7, kRoot, "ab");
  index_.apply(CgroupWalk{{{kRoot, 0, "/"}}, {"/a"}}, at(3));
  index_.apply(CgroupWalk{{{kRoot, 0, "/"}}, {"/a"}}, at(4));
  EXPECT_TRUE(is_live(5));
  EXPECT_TRUE(is_live(6));
  EXPECT_FALSE(is_live(7));
}

Status rescan(CgroupIndex& index, const TempTree& tree, MonotonicTime now) {
  TRY(const CgroupWalk walk, walk_cgroups(tree.root()));
  index.apply(walk, now);
  return {};
}

TEST(CgroupIndexRescan, IdsAreTheInodesOfTheDirectories) {
  const TempTree tree({{"system.slice/nginx.service/cgroup.procs", "812\n"}});
  CgroupIndex index;
  ASSERT_TRUE(rescan(index, tree, at(1)));
  const CgroupEntry* entry = index.find(tree.inode("system.slice/nginx.service"));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->path, "/system.slice/nginx.service");
  EXPECT_EQ(entry->parent_id, tree.inode("system.slice"));
  EXPECT_EQ(index.find(tree.inode("."))->path, "/");
  EXPECT_EQ(index.size(), 3U);
}

TEST(CgroupIndexRescan, FindsWhatEventsMissed) {
  TempTree tree({{"gone/"}, {"stays/"}});
  CgroupIndex index;
  ASSERT_TRUE(rescan(index, tree, at(1)));
  const std::uint64_t gone = tree.inode("gone");
  tree.remove_directory("gone");
  tree.put({{"stays/new/"}});
  ASSERT_TRUE(rescan(index, tree, at(2)));
  EXPECT_FALSE(index.find(gone)->removed);
  EXPECT_TRUE(index.is_uncertain());
  ASSERT_TRUE(rescan(index, tree, at(3)));
  EXPECT_EQ(index.find(gone)->removed, at(3));
  EXPECT_FALSE(index.is_uncertain());
  EXPECT_EQ(index.find(tree.inode("stays/new"))->path, "/stays/new");
  EXPECT_FALSE(index.find(tree.inode("stays"))->removed);
}

}  // namespace
}  // namespace offcpud
