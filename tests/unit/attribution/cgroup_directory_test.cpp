// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using Kind = CgroupChange::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kShortLived = 1ULL << 40;  // no directory has this inode

class CgroupDirectoryTest : public testing::Test {
 protected:
  CgroupDirectoryTest() { EXPECT_TRUE(directory_.rescan(now_)); }

  void create(std::uint64_t id, const std::string& parent, const std::string& name) {
    directory_.apply({Kind::Created, id, tree_.inode(parent), name}, now_);
  }
  void remove(std::uint64_t id) { directory_.apply({Kind::Removed, id, 0, ""}, now_); }

  // Whether a cgroup that appears without an event is found by a pass that sees these.
  bool finds_another(const SeenCgroups& seen) {
    const std::string name = "new-" + std::to_string(++made_);
    tree_.put({{name + "/"}});
    EXPECT_TRUE(directory_.name(seen, now_));
    return directory_.find(tree_.inode(name)).has_value();
  }

  TempTree tree_{{"system.slice/nginx.service/"}, {"user.slice/"}};
  MonotonicTime now_{1h};
  CgroupDirectory directory_{tree_.root()};
  int made_ = 0;
};

TEST_F(CgroupDirectoryTest, TellsThePathOrWhyThereIsNone) {
  EXPECT_EQ(directory_.path_of(tree_.inode("user.slice")), "/user.slice");
  EXPECT_EQ(directory_.path_of(kShortLived), "(unknown)");
  EXPECT_EQ(directory_.path_of(0), "(other)");
  EXPECT_EQ(directory_.find(kShortLived), std::nullopt);
}

TEST_F(CgroupDirectoryTest, KnowsWhichPathsAreThoseOfCgroups) {
  EXPECT_TRUE(directory_.is_live("/"));
  EXPECT_TRUE(directory_.is_live("/system.slice/nginx.service"));
  EXPECT_FALSE(directory_.is_live("/system.slice/nosuch.service"));
  create(kShortLived, "user.slice", "a");
  EXPECT_TRUE(directory_.is_live("/user.slice/a"));
  remove(kShortLived);
  EXPECT_FALSE(directory_.is_live("/user.slice/a"));
}

TEST_F(CgroupDirectoryTest, APathOutlivesItsCgroupForAMinute) {
  create(kShortLived, "user.slice", "a");
  remove(kShortLived);
  now_ += 59s;
  directory_.forget_removed(now_);
  EXPECT_EQ(directory_.path_of(kShortLived), "/user.slice/a");
  now_ += 1s;
  directory_.forget_removed(now_);
  EXPECT_EQ(directory_.find(kShortLived), std::nullopt);
}

TEST_F(CgroupDirectoryTest, AFailedWalkLeavesItAsItWas) {
  std::filesystem::rename(tree_.root(), tree_.root().native() + ".away");
  EXPECT_FALSE(directory_.rescan(now_));
  std::filesystem::rename(tree_.root().native() + ".away", tree_.root());
  EXPECT_EQ(directory_.path_of(tree_.inode("user.slice")), "/user.slice");
}

TEST_F(CgroupDirectoryTest, WalksOnlyForWhatHasNoPath) {
  EXPECT_FALSE(finds_another({.accounted = {{tree_.inode("user.slice"), 1}, {0, 1}},
                              .of_threads = {tree_.inode("system.slice"), 0}}));
  EXPECT_TRUE(finds_another({.accounted = {{kShortLived, 1}}, .of_threads = {}}));
  EXPECT_TRUE(finds_another({.accounted = {}, .of_threads = {kShortLived + 1}}));
}

TEST_F(CgroupDirectoryTest, LooksAgainForEachMissAtGrowingIntervals) {
  const SeenCgroups seen{.accounted = {{kShortLived, 1}}, .of_threads = {}};
  std::vector<int> walks;
  for (int second = 0; second <= 16; ++second, now_ += 1s) {
    if (finds_another(seen)) walks.push_back(second);
  }
  EXPECT_THAT(walks, ElementsAre(0, 1, 3, 7, 15));
}

TEST_F(CgroupDirectoryTest, WalksForMissedChangesEveryTenSeconds) {
  const SeenCgroups missed{.accounted = {}, .of_threads = {}, .missed_changes = true};
  EXPECT_TRUE(finds_another(missed));
  now_ += 9s;
  EXPECT_FALSE(finds_another(missed));
  now_ += 1s;
  EXPECT_TRUE(finds_another({}));  // not forgotten meanwhile
  now_ += 10s;
  EXPECT_FALSE(finds_another({}));
}

TEST_F(CgroupDirectoryTest, RemovedAndIdleUnnamedOnesAreQuiet) {
  create(kShortLived, "user.slice", "removed");
  remove(kShortLived);
  std::vector<CgroupActivity> accounted = {{kShortLived, 1},
                                           {kShortLived + 1, 1},
                                           {kShortLived + 2, 1},
                                           {tree_.inode("user.slice"), 1},
                                           {0, 1}};
  const auto quiet_after = [&](std::chrono::seconds time) {
    now_ += time;
    ++accounted[2].activity;  // the only one that is busy
    EXPECT_TRUE(directory_.name({.accounted = accounted, .of_threads = {}}, now_));
    return directory_.quiet(accounted, now_);
  };
  EXPECT_THAT(quiet_after(9s), IsEmpty());
  EXPECT_THAT(quiet_after(1s), ElementsAre(kShortLived));
  EXPECT_THAT(quiet_after(28s), ElementsAre(kShortLived));
  EXPECT_THAT(quiet_after(1s), ElementsAre(kShortLived, kShortLived + 1));
}

TEST_F(CgroupDirectoryTest, TheHeirIsBelowTheNearestAncestorThatLives) {
  create(kShortLived, "user.slice", "a");
  EXPECT_EQ(directory_.successor_of("/user.slice/a"), std::nullopt);
  EXPECT_EQ(directory_.successor_of("/user.slice/a/(removed)"), std::nullopt);
  EXPECT_EQ(directory_.successor_of("/user.slice/a/b"), "/user.slice/a/(removed)");
  remove(kShortLived);
  EXPECT_EQ(directory_.successor_of("/user.slice/a"), "/user.slice/(removed)");
  EXPECT_EQ(directory_.successor_of("/user.slice/a/(removed)"), "/user.slice/(removed)");
  EXPECT_EQ(directory_.successor_of("/gone"), "/(removed)");
  EXPECT_EQ(directory_.successor_of("/(removed)"), std::nullopt);
}

}  // namespace
}  // namespace offcpud
