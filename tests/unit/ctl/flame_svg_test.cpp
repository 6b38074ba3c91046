// SPDX-License-Identifier: Apache-2.0
#include "ctl/flame_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "api/snapshot_json.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Rect {
  std::string name;  // up to the colon of the title
  double x, y, width;
  std::string fill;
};

std::vector<Rect> rects(const std::string& svg) {
  const std::regex frame(
      "<g><title>(.*?): [^:]*</title><rect class=\"f\" x=\"([0-9.]+)\" y=\"([0-9]+)\" "
      "width=\"([0-9.]+)\" height=\"18\" fill=\"([^\"]+)\"/>");
  std::vector<Rect> found;
  for (std::sregex_iterator it(svg.begin(), svg.end(), frame), end; it != end; ++it) {
    found.push_back(
        {(*it)[1], std::stod((*it)[2]), std::stod((*it)[3]), std::stod((*it)[4]), (*it)[5]});
  }
  return found;
}

FlameTree tree_of(const Snapshot& snapshot, bool wakers = false) {
  auto tree = flame_tree(snapshot_json(snapshot, {.snapshots = 1}), wakers);
  EXPECT_TRUE(tree);
  return *std::move(tree);
}

Snapshot one_to_three() {
  Snapshot snapshot;
  snapshot.frames = {{.function = "one"}, {.function = "three"}};
  for (std::uint32_t i = 0; i < 2; ++i) {
    StackEntry entry{.pid = 1, .comm = "p"};
    entry.user = {i};
    entry.ns = i == 0 ? 1'000'000'000 : 3'000'000'000;
    entry.episodes = 10;
    snapshot.entries.push_back(entry);
  }
  return snapshot;
}

TEST(FlameSvg, WidthsAreSharesOfTheTime) {
  const std::string svg = flame_svg(tree_of(one_to_three()), false);
  EXPECT_THAT(svg, HasSubstr("Off-CPU time: 4.000 s in 20 waits"));
  std::map<std::string, Rect> by_name;
  for (const Rect& rect : rects(svg)) by_name[rect.name] = rect;
  ASSERT_EQ(by_name.size(), 4U);
  EXPECT_DOUBLE_EQ(by_name["all"].width, 1180);
  EXPECT_DOUBLE_EQ(by_name["one"].width, 295);
  EXPECT_DOUBLE_EQ(by_name["three"].width, 885);
  EXPECT_DOUBLE_EQ(by_name["three"].x, by_name["one"].x + by_name["one"].width);
  EXPECT_THAT(svg, HasSubstr("three: 3.00s, 75.00 %, 10 waits"));
}

TEST(FlameSvg, TheRootIsAtTheBottomOrOnTop) {
  for (const bool icicle : {false, true}) {
    const auto found = rects(flame_svg(tree_of(one_to_three()), icicle));
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0].name, "all");
    EXPECT_EQ(found[0].y < found[1].y, icicle);
  }
}

// In each row the rectangles neither overlap nor leave the one below them.
TEST(FlameSvg, RowsAddUpWhateverTheStacks) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const auto found = rects(flame_svg(tree_of(test::random_snapshot(seed, 60), true), true));
    ASSERT_FALSE(found.empty());
    std::map<double, double> end, sum;
    for (const Rect& rect : found) {
      EXPECT_GE(rect.x, end[rect.y] - 0.02) << rect.name;
      end[rect.y] = rect.x + rect.width;
      sum[rect.y] += rect.width;
    }
    double below = 1180.02;
    for (const auto& [y, width] : sum) {
      EXPECT_LE(width, below + 0.02 * static_cast<double>(found.size())) << y;
      below = width;
    }
    EXPECT_NEAR(sum.begin()->second, 1180, 0.01);
  }
}

TEST(FlameSvg, HostileNamesAreText) {
  Snapshot snapshot = one_to_three();
  snapshot.frames[0].function = "</title><script>alert(1)</script>&\"\n\x01\xef\xbf\xbf";
  for (const Snapshot& hostile : {snapshot, test::hostile_snapshot()}) {
    const std::string svg = flame_svg(tree_of(hostile, true), false);
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, Not(HasSubstr("\xef\xbf\xbf")));
    for (const char c : svg) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
    EXPECT_FALSE(std::regex_search(svg, std::regex("&(?!amp;|lt;|gt;|quot;)")));
  }
}

TEST(FlameSvg, ADifferenceIsRedAndBlue) {
  Snapshot before = one_to_three(), after = before;
  after.entries[0].ns = 2'000'000'000;  // one: more
  after.entries[1].ns = 2'000'000'000;  // three: less
  const auto tree = flame_tree(
      snapshot_json(difference_of(before, after, Normalize::No), {.snapshots = 1}, {}), false);
  ASSERT_TRUE(tree);
  const std::string svg = flame_svg(*tree, false);
  EXPECT_THAT(svg, HasSubstr("4.000 s in 20 waits, earlier 4.000 s"));
  std::map<std::string, unsigned long> fill;
  for (const Rect& rect : rects(svg)) {
    const std::string name = rect.name;
    fill[name] = std::stoul(rect.fill.substr(1), nullptr, 16);
  }
  EXPECT_GT(fill["one"] >> 16U, fill["one"] & 0xffU);
  EXPECT_LT(fill["three"] >> 16U, fill["three"] & 0xffU);
  EXPECT_EQ(fill["p"] >> 16U, fill["p"] & 0xffU);
}

TEST(FlameSvg, WaitsInProgressAreHatched) {
  Snapshot snapshot = one_to_three();
  snapshot.entries[0].in_progress = true;
  const std::string svg = flame_svg(tree_of(snapshot), false);
  EXPECT_THAT(svg, HasSubstr("1.000 s in progress"));
  EXPECT_THAT(svg, HasSubstr("fill=\"url(#in-progress)\""));
}

}  // namespace
}  // namespace offcpud
