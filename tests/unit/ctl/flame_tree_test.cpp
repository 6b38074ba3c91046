// SPDX-License-Identifier: Apache-2.0
#include "ctl/flame_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/snapshot_json.h"
#include "base/printable.h"
#include "base/text.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string json_of(const Snapshot& snapshot) {
  return snapshot_json(snapshot, {.snapshots = 1});
}

// The names on the way to the first leaf.
std::vector<std::string> first_path(const FlameTree& tree) {
  std::vector<std::string> names;
  for (std::uint32_t id = 0;; id = tree.nodes[id].children.front()) {
    names.push_back(tree.frames[tree.nodes[id].frame].name);
    if (tree.nodes[id].children.empty()) return names;
  }
}

TEST(FlameTree, IsRootedAtTheProcess) {
  const auto tree = flame_tree(json_of(test::ordinary_snapshot()), false);
  ASSERT_TRUE(tree) << tree.error().message();
  EXPECT_EQ(tree->nodes[0].ns, test::total_ns(test::ordinary_snapshot()));
  const auto path = first_path(*tree);
  EXPECT_EQ(path.at(0), "all");
  EXPECT_EQ(tree->nodes[0].children.size(), 3U);
  EXPECT_THAT(tree->origin, HasSubstr("1 snapshots"));
}

TEST(FlameTree, EveryNodeHasWhatIsAboveItAndItsOwn) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Snapshot snapshot = test::random_snapshot(seed, 200);
    for (const bool wakers : {false, true}) {
      const auto tree = flame_tree(json_of(snapshot), wakers);
      ASSERT_TRUE(tree) << tree.error().message();
      EXPECT_EQ(tree->nodes[0].ns, test::total_ns(snapshot));
      EXPECT_DOUBLE_EQ(tree->nodes[0].episodes, test::total_episodes(snapshot));
      for (const FlameTree::Node& node : tree->nodes) {
        std::uint64_t above = 0;
        for (const std::uint32_t child : node.children) above += tree->nodes[child].ns;
        EXPECT_LE(above, node.ns);
        EXPECT_LE(node.progress_ns, node.ns);
      }
    }
  }
}

TEST(FlameTree, WakersAreUpsideDownAboveTheSeparator) {
  Snapshot snapshot;
  snapshot.frames = {{.function = "main"},
                     {.function = "wait", .kernel = true},
                     {.function = "start"},
                     {.function = "wake", .kernel = true}};
  StackEntry entry{.pid = 1, .comm = "a", .user = {0}, .kernel = {1}, .waker_comm = "b"};
  entry.waker_user = {2};
  entry.waker_kernel = {3};
  entry.ns = 5;
  snapshot.entries = {entry};
  EXPECT_THAT(first_path(*flame_tree(json_of(snapshot), true)),
              ElementsAre("all", "a", "main", "wait", "--", "wake", "start", "b"));
  snapshot.entries[0].in_progress = true;
  EXPECT_THAT(first_path(*flame_tree(json_of(snapshot), true)),
              ElementsAre("all", "a", "main", "wait", "--", "[in progress]"));
  const auto tree = flame_tree(json_of(snapshot), false);
  EXPECT_THAT(first_path(*tree), ElementsAre("all", "a", "main", "wait", "[in progress]"));
  EXPECT_EQ(tree->nodes[0].progress_ns, 5U);
  snapshot.entries[0].in_progress = false;
  snapshot.entries[0].waker_comm = "";
  EXPECT_EQ(first_path(*flame_tree(json_of(snapshot), true)).back(), "[no waker]");
}

TEST(FlameTree, OfADifferenceHasBothAmounts) {
  const Snapshot before = test::random_snapshot(1), after = test::random_snapshot(2);
  const auto tree =
      flame_tree(snapshot_json(difference_of(before, after, Normalize::No), {}, {}), false);
  ASSERT_TRUE(tree) << tree.error().message();
  EXPECT_TRUE(tree->is_difference);
  EXPECT_EQ(tree->nodes[0].ns, test::total_ns(after));
  EXPECT_EQ(tree->nodes[0].before_ns, test::total_ns(before));
}

TEST(FlameTree, KeepsHostileNamesAsTheyAre) {
  const auto tree = flame_tree(json_of(test::hostile_snapshot()), true);
  ASSERT_TRUE(tree) << tree.error().message();
  for (const std::string& name : test::hostile_names()) {
    if (name.empty()) continue;
    EXPECT_TRUE(std::ranges::any_of(tree->frames, [&](const FlameFrame& frame) {
      return frame.name == to_valid_utf8(name);
    })) << name;
  }
}

// The parser's own words repeat bytes of the answer, and offcpuctl prints them.
TEST(FlameTree, ARefusalHoldsNothingThatATerminalObeys) {
  for (const char* const json : {"\"\xff", "\"\x9b\x9b", "[\x1b[2J"}) {
    const auto tree = flame_tree(json, false);
    ASSERT_FALSE(tree);
    EXPECT_EQ(printable(tree.error().message()), tree.error().message());
  }
}

TEST(FlameTree, RefusesWhatIsNoAnswerAboutStacks) {
  for (const char* const json :
       {"", "{", "[]", "{}", R"({"strings":[],"stacks":[],"frames":[],"columns":[],"rows":[[1]]})",
        R"({"strings":[""],"stacks":[[7]],"frames":[],"columns":["ns","episodes","in_progress",)"
        R"("stack","comm"],"rows":[[1,1,0,0,0]],"begin":"","end":"","snapshots":1})",
        R"({"strings":[""],"stacks":[[]],"frames":[],"columns":["ns","episodes","in_progress",)"
        R"("stack","comm"],"rows":[[1,1,0,0,-1]],"begin":"","end":"","snapshots":1})"}) {
    const auto tree = flame_tree(json, false);
    ASSERT_FALSE(tree) << json;
    EXPECT_THAT(tree.error().message(), HasSubstr("not one of offcpud about stacks"));
  }
}

}  // namespace
}  // namespace offcpud
