// SPDX-License-Identifier: Apache-2.0
#include "reader/copy_room.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace offcpud {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::uint64_t held_by(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 ? static_cast<std::uint64_t>(info.st_blocks) * 512 : 0;
}

TEST(CopyRoom, CopiesCountAsLongAsTheyAreOpen) {
  CopyRoom room;
  auto place = room.reserve(CopyRoom::kMost);
  ASSERT_TRUE(place);
  ASSERT_EQ(::pwrite(place->fd(), "text", 4, 0), 4);
  auto copy = place->keep(40 * kMiB, {});
  ASSERT_TRUE(copy);
  EXPECT_EQ(room.left(), 24 * kMiB);
  EXPECT_FALSE(room.reserve(25 * kMiB));
  copy->reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // it looks once a second
  EXPECT_TRUE(room.reserve(CopyRoom::kMost));
}

// Else there could be any number of copies of small files to remember.
TEST(CopyRoom, AFewBytesCountAsAPage) {
  CopyRoom room;
  auto place = room.reserve(1);
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
    const auto place = room.reserve(40 * kMiB);
    ASSERT_TRUE(place);
    EXPECT_EQ(room.left(), 24 * kMiB);
    EXPECT_FALSE(room.reserve(40 * kMiB));
    of_reader.reset(::fcntl(place->fd(), F_DUPFD_CLOEXEC, 0));
    const std::string text(kMiB, 'x');
    ASSERT_EQ(::write(of_reader.get(), text.data(), text.size()), ssize_t{kMiB});
    EXPECT_GE(held_by(of_reader.get()), kMiB);
  }
  EXPECT_EQ(held_by(of_reader.get()), 0U);
  EXPECT_EQ(room.left(), CopyRoom::kMost);
  EXPECT_LT(::pwrite(of_reader.get(), "x", 1, 0), 0) << "it must not grow any more";
}

TEST(CopyRoom, AReaderCannotWriteMoreThanWasReserved) {
  CopyRoom room;
  auto place = room.reserve(4096);
  ASSERT_TRUE(place);
  EXPECT_LT(::pwrite(place->fd(), "x", 1, 4096), 0);
  EXPECT_FALSE(place->keep(4097, {}));
}

TEST(CopyRoom, ACopyIsReadOnlyAndSaysWhatItWasMadeOf) {
  CopyRoom room;
  const OriginalFile original{.version = {.inode = {1, 2, 3}, .size = 4, .changed_ns = 5},
                              .rights = {.owner = 1000, .mode = 0100644}};
  auto place = room.reserve(4);
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
