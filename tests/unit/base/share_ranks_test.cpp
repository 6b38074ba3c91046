// SPDX-License-Identifier: Apache-2.0
#include "base/share_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace offcpud {
namespace {

TEST(ShareRanks, NobodyGivesWayWhereNobodyHoldsAnything) {
  const ShareRanks ranks;
  EXPECT_EQ(ranks.who_gives_way(1, 0), std::nullopt);
}

TEST(ShareRanks, TheLargestProcessOfTheLargestUserGivesWay) {
  ShareRanks ranks;
  ranks.change(1, 10, 0, 30);
  ranks.change(2, 20, 0, 20);
  ranks.change(2, 21, 0, 25);
  EXPECT_EQ(ranks.who_gives_way(1, 30), 21U);
  EXPECT_EQ(ranks.who_gives_way(2, 20), 21U);
  EXPECT_EQ(ranks.who_gives_way(2, 25), std::nullopt) << "itself";
  EXPECT_EQ(ranks.who_gives_way(std::nullopt, 0), 21U);
  ranks.change(2, 21, 25, 0);
  EXPECT_EQ(ranks.who_gives_way(2, 20), 10U);
}

// Against a rule that looks at everybody, with few users and sizes, so that many are equal.
TEST(ShareRanks, RemembersWhatEachHolds) {
  std::mt19937 random(7);
  ShareRanks ranks;
  std::array<std::size_t, 12> held{};
  const auto user_of = [](std::size_t tgid) {
    return tgid % 4 == 0 ? std::nullopt : ShareOwner(static_cast<std::uint32_t>(tgid % 4));
  };
  for (int i = 0; i < 5'000; ++i) {
    const std::size_t changed = random() % held.size(), now = random() % 6;
    const auto tgid = static_cast<std::uint32_t>(changed);
    ranks.change(user_of(changed), tgid, held[changed], now);
    held[changed] = now;
    std::map<ShareOwner, std::size_t> users, largest;
    for (std::size_t each = 0; each < held.size(); ++each) {
      users[user_of(each)] += held[each];
      std::size_t& most = largest[user_of(each)];
      most = std::max(most, held[each]);
    }
    const ShareOwner own = user_of(changed);
    std::size_t most = 0;
    for (const auto& [user, of] : users) most = std::max(most, of);
    const bool is_own = most <= users[own] + 1;
    const auto gives = ranks.who_gives_way(own, now);
    if (is_own && largest[own] <= now + 1) {
      EXPECT_EQ(gives, std::nullopt) << i;
      continue;
    }
    ASSERT_TRUE(gives) << i;
    const ShareOwner user = user_of(*gives);
    EXPECT_EQ(held[*gives], largest[user]) << i;
    EXPECT_EQ(user == own, is_own) << i;
    if (!is_own) {
      EXPECT_EQ(users[user], most) << i;
    }
  }
}

}  // namespace
}  // namespace offcpud
