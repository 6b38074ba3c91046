// SPDX-License-Identifier: Apache-2.0
#include "mappings/file_opener.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "elf/build_id.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;

constexpr std::uint32_t kNobody = 0x7fffffff;

class FileOpenerTest : public ::testing::Test {
 protected:
  // By path only: the process does not exist.
  FileRequest request(const std::string& name) {
    FileRequest wanted;
    wanted.tgid = kNobody;
    wanted.path = tree_.root() / name;
    return wanted;
  }
  TempTree tree_{{"plain", "text"}, {"other", "text"}};
  LocalFiles files_;
  ProcFileOpener opener_{files_};
};

TEST_F(FileOpenerTest, ByPathIfTheInodeIsTheOneThatWasMapped) {
  FileRequest wanted = request("plain");
  wanted.inode.inode = tree_.inode("plain");
  const OpenedFile file = opener_.open(wanted);
  ASSERT_EQ(file.outcome, Outcome::Opened);
  struct stat info {};
  ASSERT_EQ(::fstat(file.fd.get(), &info), 0);
  EXPECT_EQ(info.st_ino, tree_.inode("plain"));
  wanted.inode.inode = tree_.inode("other");
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::Gone);
}

TEST_F(FileOpenerTest, AFileBelowAnotherRootIsNotTheOne) {
  FileRequest wanted = request("plain");
  wanted.inode.inode = tree_.inode("plain");
  wanted.root = opener_.root_of(static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::Opened);
  wanted.root.inode += 1;
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::Gone);
}

TEST_F(FileOpenerTest, TheRootIsADirectory) {
  struct stat info {};
  ASSERT_EQ(::stat("/", &info), 0);
  const RootId root = opener_.root_of(static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(root, (RootId{info.st_dev, info.st_ino}));
  EXPECT_EQ(root.user_is, RootId::UserIs::Own);
  EXPECT_EQ(root.user, ::geteuid());
  EXPECT_FALSE(opener_.root_of(kNobody).known());
}

TEST_F(FileOpenerTest, AFileWithoutTheBuildIdIsAnotherOne) {
  FileRequest wanted = request("plain");
  wanted.build_id.size = 20;
  wanted.inode.inode = tree_.inode("plain");
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::Gone);
}

TEST_F(FileOpenerTest, PathsOfDeletedFilesAreNotTried) {
  FileRequest wanted = request("plain");
  wanted.inode.inode = tree_.inode("plain");
  wanted.deleted = true;
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::Gone);
}

TEST_F(FileOpenerTest, FifosAndDevicesAreNeverOpened) {
  const std::string fifo = tree_.root() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  FileRequest wanted = request("fifo");
  wanted.inode.inode = tree_.inode("fifo");
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::NotAFile);  // and the test does not hang
  wanted.path = "/dev/null";
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::NotAFile);
  wanted.path = tree_.root();
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::NotAFile);
}

TEST_F(FileOpenerTest, NamesThatAreNoPathsFindNothing) {
  for (const char* path : {"", "relative", "[vdso]", "/no/such/file"}) {
    FileRequest wanted = request("plain");
    wanted.path = path;
    wanted.inode.inode = 1;
    EXPECT_EQ(opener_.open(wanted).outcome, Outcome::Gone) << path;
  }
}

TEST_F(FileOpenerTest, OwnProgramByItsPath) {
  FileRequest wanted;
  wanted.tgid = static_cast<std::uint32_t>(::getpid());
  wanted.path = std::filesystem::read_symlink("/proc/self/exe");
  struct stat info {};
  ASSERT_EQ(::stat(wanted.path.c_str(), &info), 0);
  wanted.inode.inode = info.st_ino;
  EXPECT_EQ(opener_.open(wanted).outcome, Outcome::Opened);
}

}  // namespace
}  // namespace offcpud
