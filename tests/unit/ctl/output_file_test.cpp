// SPDX-License-Identifier: Apache-2.0
#include "ctl/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/file_io.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

using testing::HasSubstr;

std::size_t files_in(const std::filesystem::path& directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(OutputFile, ReplacesAFileAndLeavesNothingElse) {
  const TempTree tree({{"out.svg", "old"}});
  const auto path = tree.root() / "out.svg";
  ASSERT_TRUE(write_output(path, std::string_view("a\0b", 3)));
  EXPECT_EQ(*read_file(path, 100), std::string("a\0b", 3));
  EXPECT_EQ(files_in(tree.root()), 1U);
}

TEST(OutputFile, FollowsALink) {
  const TempTree tree({{"there/real.html", "old"}});
  tree.put_link("link.html", "there/real.html");
  ASSERT_TRUE(write_output(tree.root() / "link.html", "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(tree.root() / "link.html"));
  EXPECT_EQ(*read_file(tree.root() / "there/real.html", 100), "new");
}

TEST(OutputFile, WritesToADeviceAsItIs) {
  ASSERT_TRUE(write_output("/dev/null", "text"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFile, SaysWhatCannotBeWritten) {
  const TempTree tree({{"directory/", ""}});
  const auto missing = write_output(tree.root() / "none/out.svg", "text");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message(), HasSubstr("none/out.svg': No such file or directory"));
  const auto directory = write_output(tree.root() / "directory", "text");
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message(), HasSubstr("Is a directory"));
  EXPECT_FALSE(write_output("/dev/full", "text"));
  EXPECT_EQ(files_in(tree.root()), 1U);
}

TEST(OutputFile, AnUnwritableDirectoryIsAMissingPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TempTree tree({{"closed/", ""}});
  tree.set_mode("closed", 0500);
  const auto status = write_output(tree.root() / "closed/out.svg", "text");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::Permission);
}

}  // namespace
}  // namespace offcpud
