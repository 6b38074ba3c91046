// SPDX-License-Identifier: Apache-2.0
#include "sampler/process_owners.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

class ProcessOwnersTest : public testing::Test {
 protected:
  int asked_ = 0;
  ProcessOwners owners_{[this](std::uint32_t tgid) {
    ++asked_;
    return ShareOwner(tgid + 1'000);
  }};
};

TEST_F(ProcessOwnersTest, EachProcessIsAskedForOnce) {
  EXPECT_EQ(owners_.of(7, 1), ShareOwner(1'007));
  EXPECT_EQ(owners_.of(7, 1), ShareOwner(1'007));
  EXPECT_EQ(asked_, 1);
  EXPECT_EQ(owners_.of(7, 2), ShareOwner(1'007)) << "the number is another process's now";
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(owners_.of(0, 1), ShareOwner()) << "of another namespace";
  EXPECT_EQ(asked_, 2);
}

TEST_F(ProcessOwnersTest, BeyondTheQuestionsOnlyKnownOnesHaveAnOwner) {
  owners_.allow(3);
  EXPECT_EQ(owners_.of(7, 1), ShareOwner(1'007));
  EXPECT_EQ(owners_.of(8, 1, 2), ShareOwner()) << "two are left to others";
  EXPECT_EQ(owners_.of(8, 1), ShareOwner(1'008));
  EXPECT_EQ(owners_.of(9, 1), ShareOwner(1'009));
  EXPECT_EQ(owners_.of(10, 1), ShareOwner());
  EXPECT_EQ(owners_.of(7, 1, 2), ShareOwner(1'007));
}

TEST_F(ProcessOwnersTest, ThoseThatAreAskedForAgainAreNotForgotten) {
  constexpr std::uint32_t kFirst = 10, kOther = 1'000;
  (void)owners_.of(kFirst, 1);
  for (std::uint32_t i = 0; i < 2 * ProcessOwners::kMost; ++i) {
    (void)owners_.of(kOther + i, 1);
    if (i % 10'000 == 0) (void)owners_.of(kFirst, 1);
  }
  const int asked = asked_;
  (void)owners_.of(kFirst, 1);
  (void)owners_.of(kOther + 2 * ProcessOwners::kMost - 1, 1);
  EXPECT_EQ(asked_, asked);
  (void)owners_.of(kOther, 1);
  EXPECT_EQ(asked_, asked + 1) << "this one had to go";
}

}  // namespace
}  // namespace offcpud
