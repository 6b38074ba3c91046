// SPDX-License-Identifier: Apache-2.0
#include "reader/copy_room.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace offcpud {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLargest = CopyRoom::kMost - CopyRoom::kKept;
constexpr std::uint32_t kUser = 1000;

std::uint64_t held_by(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

TEST(CopyRoom, CopiesCountAsLongAsTheyAreOpen) {
  CopyRoom room;
  auto place = room.reserve(kLargest, kUser);
  ASSERT_TRUE(place);
  ASSERT_EQ(::pwrite(place->fd(), "text", 4, 0), 4);
  auto copy = place->keep(40 * kMiB, {});
  ASSERT_TRUE(copy);
  EXPECT_EQ(room.left(), 24 * kMiB);
  EXPECT_FALSE(room.reserve(9 * kMiB, kUser));
  copy->reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // it looks once a second
  EXPECT_TRUE(room.reserve(kLargest, kUser));
}

// Else there could be any number of copies of small files to remember.
TEST(CopyRoom, AFewBytesCountAsAPage) {
  CopyRoom room;
  auto place = room.reserve(1, kUser);
  ASSERT_TRUE(place);
  const auto copy = place->keep(0, OriginalFile());
  ASSERT_TRUE(copy);
  EXPECT_EQ(room.left(), CopyRoom::kMost - CopyRoom::kLeast);
}

// Whoever was to write it may be at it still, and never end.
TEST(CopyRoom, WhatBecomesNoCopyHoldsNoMemory) {
  CopyRoom room;
  UniqueFd of_reader;
  {
    const auto place = room.reserve(40 * kMiB, kUser);
    ASSERT_TRUE(place);
    EXPECT_EQ(room.left(), 24 * kMiB);
    EXPECT_FALSE(room.reserve(40 * kMiB, kUser));
    of_reader.reset(::fcntl(place->fd(), F_DUPFD_CLOEXEC, 0));
    const std::string text(kMiB, 'x');
    ASSERT_EQ(::write(of_reader.get(), text.data(), text.size()), ssize_t{kMiB});
    EXPECT_GE(held_by(of_reader.get()), kMiB);
  }
  EXPECT_EQ(held_by(of_reader.get()), 0U);
  EXPECT_EQ(room.left(), CopyRoom::kMost);
  EXPECT_LT(::pwrite(of_reader.get(), "x", 1, 0), 0) << "it must not grow any more";
}

TEST(CopyRoom, NoUserTakesTheRoomOfAll) {
  CopyRoom room;
  std::vector<CopyPlace> places;
  const auto take = [&](std::uint64_t bytes, const ShareOwner& owner) {
    auto place = room.reserve(bytes, owner);
    if (!place) return false;
    places.push_back(*std::move(place));
    return true;
  };
  EXPECT_FALSE(take(CopyRoom::kMost, kUser));
  while (take(kMiB, kUser)) {
  }
  EXPECT_EQ(room.left(), CopyRoom::kKept);
  EXPECT_FALSE(take(kMiB, kUser)) << "the rest is for others";
  EXPECT_TRUE(take(5 * kMiB, kUser + 1));
  EXPECT_FALSE(take(4 * kMiB, kUser + 1)) << "as others may come";
  EXPECT_TRUE(take(3 * kMiB, 0));
  EXPECT_TRUE(take(3 * kMiB, std::nullopt)) << "of whom nobody knows";
  EXPECT_FALSE(take(2 * kMiB, std::nullopt));
  EXPECT_TRUE(take(kMiB, kUser + 2));
  places.clear();
  EXPECT_TRUE(take(kLargest, kUser + 1));
}

TEST(CopyRoom, CopiesCountForTheirUserUntilTheyAreClosed) {
  CopyRoom room;
  std::vector<UniqueFd> copies;
  for (int i = 0; i < 4; ++i) {
    auto place = room.reserve(12 * kMiB, kUser);
    ASSERT_TRUE(place);
    auto copy = place->keep(12 * kMiB, {});
    ASSERT_TRUE(copy);
    copies.push_back(*std::move(copy));
  }
  EXPECT_FALSE(room.reserve(kMiB, kUser));
  EXPECT_TRUE(room.reserve(8 * kMiB, kUser + 1));
  copies.clear();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // it looks once a second
  EXPECT_TRUE(room.reserve(kLargest, kUser));
}

TEST(CopyRoom, AReaderCannotWriteMoreThanWasReserved) {
  CopyRoom room;
  auto place = room.reserve(4096, kUser);
  ASSERT_TRUE(place);
  EXPECT_LT(::pwrite(place->fd(), "x", 1, 4096), 0);
  EXPECT_FALSE(place->keep(4097, {}));
}

TEST(CopyRoom, ACopyIsReadOnlyAndSaysWhatItWasMadeOf) {
  CopyRoom room;
  const OriginalFile original{.version = {.inode = {1, 2, 3}, .size = 4, .changed_ns = 5},
                              .rights = {.owner = 1000, .mode = 0100644}};
  auto place = room.reserve(4, kUser);
  ASSERT_TRUE(place);
  ASSERT_EQ(::pwrite(place->fd(), "text", 4, 0), 4);
  const auto copy = place->keep(4, original);
  ASSERT_TRUE(copy);
  EXPECT_LT(::pwrite(copy->get(), "x", 1, 0), 0);
  EXPECT_NE(::ftruncate(copy->get(), 0), 0);
  EXPECT_EQ(room.original_of(copy->get()), original);
  const UniqueFd other(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(room.original_of(other.get()), std::nullopt);
}

}  // namespace
}  // namespace offcpud
