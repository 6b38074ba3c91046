// SPDX-License-Identifier: Apache-2.0
#include "http/gzip_slots.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace offcpud {
namespace {

class GzipSlotsTest : public testing::Test {
 protected:
  // How many a peer gets that asks until it is refused.
  std::size_t take_all(const std::string& peer) {
    auto& held = held_[peer];
    const std::size_t before = held.size();
    while (auto slot = slots_.take(peer)) held.push_back(std::move(slot));
    return held.size() - before;
  }

  std::map<GzipRefusal, int> refused_;
  GzipSlots slots_{8, [this](GzipRefusal why) { ++refused_[why]; }};
  std::map<std::string, std::vector<std::shared_ptr<const void>>> held_;
};

TEST_F(GzipSlotsTest, APeerLeavesOthersAsManyAsItHas) {
  EXPECT_EQ(take_all("a"), 4U);
  EXPECT_EQ(take_all("b"), 2U);
  EXPECT_EQ(take_all("c"), 1U);
  EXPECT_EQ(take_all("a"), 0U);
  EXPECT_EQ(refused_, (std::map<GzipRefusal, int>{{GzipRefusal::Peer, 4}}));
  EXPECT_EQ(take_all("d"), 1U);
  EXPECT_EQ(take_all("e"), 0U);
  EXPECT_EQ(refused_[GzipRefusal::All], 2);
}

TEST_F(GzipSlotsTest, WhatIsGivenBackIsThereForAll) {
  take_all("a");
  const GzipSlots copy = slots_;
  held_.clear();
  EXPECT_EQ(take_all("b"), 4U);
  EXPECT_TRUE(copy.take("a"));
}

TEST_F(GzipSlotsTest, ASlotMayOutliveTheObject) {
  std::shared_ptr<const void> slot;
  {
    const GzipSlots slots(1);
    slot = slots.take("a");
  }
  EXPECT_TRUE(slot);
}

}  // namespace
}  // namespace offcpud
