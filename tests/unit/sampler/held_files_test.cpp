// SPDX-License-Identifier: Apache-2.0
#include "sampler/held_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>

namespace offcpud {
namespace {

UniqueFd some_file() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(HeldFiles, HoldsAFileAndItsCopiesUntilTheyAreTaken) {
  HeldFiles held;
  UniqueFd file = some_file();
  const int number = file.get();
  held.hold(7, some_file());
  held.hold(7, std::move(file));  // in its place
  held.hold_copy(7, some_file());
  held.hold_copy(7, some_file());
  EXPECT_EQ(held.size(), 3U);
  EXPECT_EQ(held.take(7).get(), number);
  EXPECT_FALSE(held.take(7));
  EXPECT_EQ(held.take_copies(7).size(), 2U);
  EXPECT_TRUE(held.take_copies(7).empty());
  EXPECT_EQ(held.size(), 0U);
}

TEST(HeldFiles, ClosesWhatThereIsNoRoomForAndWhatIsForgotten) {
  HeldFiles held;
  for (std::uint64_t object = 1; object <= 1024; ++object) held.hold(object, some_file());
  EXPECT_FALSE(held.has_room());
  held.hold(2000, some_file());
  held.hold_copy(1, some_file());
  EXPECT_FALSE(held.take(2000));
  EXPECT_EQ(held.size(), 1024U);
  held.hold(5, some_file());  // there is room for what it replaces
  EXPECT_EQ(held.size(), 1024U);
  EXPECT_EQ(held.forget(5), 0U);
  EXPECT_EQ(held.forget(5), 0U);
  EXPECT_EQ(held.size(), 1023U);
  held.hold_copy(6, some_file());
  EXPECT_EQ(held.forget(6), 1U) << "a copy";
  EXPECT_TRUE(held.has_room());
  EXPECT_FALSE(held.take(5));
}

TEST(HeldFiles, ClosesWhatIsOldAndKeepsWhatIsNew) {
  HeldFiles held;
  const MonotonicTime start{std::chrono::hours(1)};
  held.close_old(start);
  held.hold(1, some_file());
  held.hold_copy(1, some_file());
  held.close_old(start + std::chrono::seconds(9));
  EXPECT_EQ(held.size(), 2U);
  held.close_old(start + std::chrono::seconds(10));
  EXPECT_EQ(held.size(), 2U) << "it may have come a moment ago";
  held.hold(2, some_file());
  held.close_old(start + std::chrono::seconds(20));
  EXPECT_EQ(held.size(), 1U);
  EXPECT_FALSE(held.take(1));
  EXPECT_TRUE(held.take(2));
  held.close_old(start + std::chrono::seconds(60));
  EXPECT_EQ(held.size(), 0U);
}

// Who makes copies without end keeps nothing open by them.
TEST(HeldFiles, CopiesThatComeLaterMakeNothingNew) {
  HeldFiles held;
  const MonotonicTime start{std::chrono::hours(1)};
  held.close_old(start);
  held.hold(1, some_file());
  held.close_old(start + std::chrono::seconds(10));
  held.hold_copy(1, some_file());
  EXPECT_EQ(held.close_old(start + std::chrono::seconds(20)), 1U);
  EXPECT_EQ(held.size(), 0U);
}

}  // namespace
}  // namespace offcpud
