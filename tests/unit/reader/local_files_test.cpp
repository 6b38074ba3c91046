// SPDX-License-Identifier: Apache-2.0
#include "mappings/local_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/memory_file.h"
#include "mappings/mapped_file_id.h"
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
  UniqueFd memory;

  void make_room(std::uint64_t bytes) {
    auto made = memory_file("copy");
    if (!made) std::abort();
    memory = *std::move(made);
    files.set_copy_room(UniqueFd(::fcntl(memory.get(), F_DUPFD_CLOEXEC, 0)), bytes);
  }
  [[nodiscard]] std::string text() const {
    std::string bytes(64, '\0');
    const ssize_t got = ::pread(memory.get(), bytes.data(), bytes.size(), 0);
    return bytes.substr(0, got < 0 ? 0 : static_cast<std::size_t>(got));
  }
};

TEST_F(LocalFilesTest, AFileOfADiskIsHandedOutAsItIs) {
  const UniqueFd plain(::memfd_create("local", MFD_CLOEXEC));
  auto opening = files.open(handle_of("/proc/self/fd/" + std::to_string(plain.get())), "self");
  ASSERT_EQ(opening.outcome, Outcome::Opened);
  EXPECT_TRUE(opening.local);
  EXPECT_EQ(files.hand_out(std::move(opening)).copied, 0U);
}

// Of a file system that nobody knows to answer by itself.
TEST_F(LocalFilesTest, OthersAreCopied) {
  auto opening = files.open(handle_of(path), "self");
  ASSERT_EQ(opening.outcome, Outcome::Opened);
  opening.local = false;
  make_room(9);
  const OpenedFile copy = files.hand_out(std::move(opening));
  ASSERT_EQ(copy.outcome, Outcome::Opened);
  EXPECT_EQ(copy.copied, 9U);
  EXPECT_EQ(text(), "some text");
}

// As the kernel's programs find it in the mappings of processes.
TEST_F(LocalFilesTest, ACopySaysWhatItWasMadeOf) {
  auto opening = files.open(handle_of(path), "self");
  opening.local = false;
  make_room(9);
  const OpenedFile copy = files.hand_out(std::move(opening));
  ASSERT_TRUE(copy.original);
  EXPECT_EQ(copy.original->version.inode.inode, tree.inode("file"));
  EXPECT_EQ(copy.original->version.size, 9U);
  EXPECT_EQ(copy.original->version,
            version_of_file(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).get()));
}

// Not the rights of the memory that it is in.
TEST_F(LocalFilesTest, ACopySaysWhoMayHaveWrittenTheOriginal) {
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  const uid_t owner = ::geteuid() == 0 ? 1000 : ::geteuid();
  ASSERT_EQ(::chown(path.c_str(), owner, static_cast<gid_t>(-1)), 0);
  auto opening = files.open(handle_of(path), "self");
  opening.local = false;
  make_room(9);
  const OpenedFile copy = files.hand_out(std::move(opening));
  ASSERT_TRUE(copy.original);
  EXPECT_EQ(copy.original->rights, (FileRights{.owner = owner, .mode = S_IFREG | 0640}));
}

TEST_F(LocalFilesTest, OfWhatIsReadFromItsEndNoMoreIsCopied) {
  auto opening = files.open(handle_of(path), "self");
  opening.local = false;
  make_room(4);
  const OpenedFile copy = files.hand_out(std::move(opening), 4);
  ASSERT_EQ(copy.outcome, Outcome::Opened);
  EXPECT_EQ(copy.copied, 4U);
  EXPECT_EQ(copy.original->version.size, 9U);
  EXPECT_EQ(text(), "text");
}

TEST_F(LocalFilesTest, AFileThatIsNoneIsCopiedToo) {
  // Of procfs, which is in no list.
  auto opening = files.open(handle_of("/proc/self/status"), "self");
  ASSERT_EQ(opening.outcome, Outcome::Opened);
  EXPECT_FALSE(opening.local);
}

// And tells how much it would be; what was used for one is not used for the next.
TEST_F(LocalFilesTest, CopiesDoNotTakeMoreRoomThanThereIs) {
  for (const std::uint64_t room : {0, 8, 9, 0}) {
    auto opening = files.open(handle_of(path), "self");
    opening.local = false;
    if (room > 0) make_room(room);
    const OpenedFile copy = files.hand_out(std::move(opening));
    EXPECT_EQ(copy.outcome, room == 9 ? Outcome::Opened : Outcome::Refused) << room;
    EXPECT_EQ(copy.copied, 9U);
  }
}

TEST_F(LocalFilesTest, HugeFilesAreNotCopied) {
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
  auto opening = files.open(handle_of(path), "self");
  opening.local = false;
  EXPECT_EQ(files.hand_out(std::move(opening)).outcome, Outcome::TooLarge);
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
