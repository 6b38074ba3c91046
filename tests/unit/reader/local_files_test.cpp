// SPDX-License-Identifier: Apache-2.0
#include "mappings/local_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;

UniqueFd handle_of(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_PATH | O_CLOEXEC));
}

struct LocalFilesTest : testing::Test {
  TempTree tree{{"file", "some text"}};
  std::string path = tree.root() / "file";
  LocalFiles files;
};

TEST_F(LocalFilesTest, AFileOfADiskIsHandedOutAsItIs) {
  const UniqueFd memory(::memfd_create("local", MFD_CLOEXEC));
  auto opening = files.open(handle_of("/proc/self/fd/" + std::to_string(memory.get())), "self");
  ASSERT_EQ(opening.outcome, Outcome::Opened);
  EXPECT_TRUE(opening.local);
  EXPECT_EQ(files.hand_out(std::move(opening)).copied, 0U);
}

// Of a file system that nobody knows to answer by itself.
TEST_F(LocalFilesTest, OthersAreCopied) {
  auto opening = files.open(handle_of(path), "self");
  ASSERT_EQ(opening.outcome, Outcome::Opened);
  opening.local = false;
  const OpenedFile copy = files.hand_out(std::move(opening));
  ASSERT_EQ(copy.outcome, Outcome::Opened);
  EXPECT_EQ(copy.copied, 9U);
  char bytes[16] = {};
  EXPECT_EQ(::pread(copy.fd.get(), bytes, sizeof bytes, 0), 9);
  EXPECT_STREQ(bytes, "some text");
  EXPECT_LT(::pwrite(copy.fd.get(), "x", 1, 0), 0);  // sealed
}

TEST_F(LocalFilesTest, AFileThatIsNoneIsCopiedToo) {
  // Of procfs, which is in no list.
  auto opening = files.open(handle_of("/proc/self/status"), "self");
  ASSERT_EQ(opening.outcome, Outcome::Opened);
  EXPECT_FALSE(opening.local);
}

TEST_F(LocalFilesTest, CopiesDoNotTakeMoreRoomThanThereIs) {
  files.set_copy_room(10);
  for (const Outcome expected : {Outcome::Opened, Outcome::Refused}) {
    auto opening = files.open(handle_of(path), "self");
    opening.local = false;
    EXPECT_EQ(files.hand_out(std::move(opening)).outcome, expected);
  }
}

TEST_F(LocalFilesTest, HugeFilesAreNotCopied) {
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
  auto opening = files.open(handle_of(path), "self");
  opening.local = false;
  EXPECT_EQ(files.hand_out(std::move(opening)).outcome, Outcome::Slow);
}

TEST_F(LocalFilesTest, WhatIsShunnedIsNotTouched) {
  std::uint64_t asked = 0;
  LocalFiles careful([&asked](std::uint64_t mount) {
    asked = mount;
    return false;
  });
  EXPECT_EQ(careful.open(handle_of(path), "self").outcome, Outcome::Refused);
  EXPECT_NE(asked, 0U);
}

}  // namespace
}  // namespace offcpud
