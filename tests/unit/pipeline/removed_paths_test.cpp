// SPDX-License-Identifier: Apache-2.0
#include "pipeline/removed_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/times.h"

namespace offcpud {
namespace {

using test::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RemovedPaths, LingerInTheOrderInWhichTheyWent) {
  RemovedPaths removed;
  EXPECT_EQ(removed.longest(""), nullptr);
  removed.note("/b", at(1));
  removed.note("/a", at(2));
  removed.note("/b", at(3));  // known already
  ASSERT_NE(removed.longest(""), nullptr);
  EXPECT_EQ(*removed.longest(""), "/b");
  ASSERT_NE(removed.longest("/b"), nullptr);
  EXPECT_EQ(*removed.longest("/b"), "/a");
  EXPECT_THAT(removed.lingering_since(at(0)), IsEmpty());
  EXPECT_THAT(removed.lingering_since(at(1)), ElementsAre("/b"));
  EXPECT_THAT(removed.lingering_since(at(9)), ElementsAre("/b", "/a"));
}

TEST(RemovedPaths, APathThatIsUsedAgainStartsAnew) {
  RemovedPaths removed;
  removed.note("/a", at(1));
  removed.revive("/a");
  EXPECT_EQ(removed.longest(""), nullptr);
  removed.note("/a", at(5));
  EXPECT_THAT(removed.lingering_since(at(4)), IsEmpty());
  removed.set_folded("/a", at(6));
  removed.revive("/a");
  EXPECT_FALSE(removed.is_folded("/a"));
}

TEST(RemovedPaths, AFoldedPathLingersNoMoreAndIsForgottenLater) {
  RemovedPaths removed;
  removed.note("/a", at(1));
  removed.set_folded("/a", at(2));
  removed.note("/a", at(3));
  EXPECT_EQ(removed.longest(""), nullptr);
  EXPECT_TRUE(removed.is_folded("/a"));
  removed.forget_folded(at(2));
  EXPECT_TRUE(removed.is_folded("/a"));
  removed.forget_folded(at(3));
  EXPECT_FALSE(removed.is_folded("/a"));
}

}  // namespace
}  // namespace offcpud
