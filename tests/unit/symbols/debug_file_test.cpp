// SPDX-License-Identifier: Apache-2.0
// Whose debug file names the functions of whose object, where the two may be copies in memory.
#include "symbols/debug_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "base/file_io.h"
#include "base/memory_file.h"
#include "support/temp_tree.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

constexpr FileRights kOfRoot{.owner = 0, .mode = S_IFREG | 0644};
constexpr FileRights kOfUser{.owner = kUser, .mode = S_IFREG | 0644};
constexpr FileRights kOfStranger{.owner = kStranger, .mode = S_IFREG | 0644};
constexpr FileRights kOfAll{.owner = kUser, .mode = S_IFREG | 0666};

// As a reader makes them of files that may not answer.
UniqueFd copy_of(const std::string& content) {
  auto copy = memory_file("copy");
  EXPECT_TRUE(copy);
  EXPECT_EQ(write_all(copy->get(), content), 0);
  constexpr int kSeals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_SEAL;
  EXPECT_EQ(::fcntl(copy->get(), F_ADD_SEALS, kSeals), 0);
  return *std::move(copy);
}

struct DebugFileTest : testing::Test, FilesBelow {
  Result<UniqueFd> open_below(int directory, std::uint32_t /*process*/, const std::string& name,
                              LastLink last_link) override {
    const UniqueFd found = find_below(directory, name, last_link);
    if (!found) return Error("it is not there");
    const std::string again = "/proc/self/fd/" + std::to_string(found.get());
    if (!copies) return UniqueFd(::open(again.c_str(), O_RDONLY | O_CLOEXEC));
    UniqueFd copy = copy_of(file_content(again));
    if (of_debug_file) originals[inode_of(copy.get())] = *of_debug_file;
    return copy;
  }
  std::optional<FileRights> rights_of_original(int fd) override {
    const auto found = originals.find(inode_of(fd));
    if (found == originals.end()) return std::nullopt;
    return found->second;
  }
  static ino_t inode_of(int fd) {
    struct stat info {};
    EXPECT_EQ(::fstat(fd, &info), 0);
    return info.st_ino;
  }

  // Whether c_function has its name, which is in the debug file alone.
  bool is_named(int object) {
    const RootDirectory root(UniqueFd(::open(tree.root().c_str(), O_PATH | O_CLOEXEC)), 0, this);
    const auto read = ElfSymbols::read(object, {{&root, "/app/symbols_stripped"}});
    const auto found = read ? read->functions().find(fixture_address("c_function")) : std::nullopt;
    return found && found->name == "c_function";
  }
  // Both are copies of files with these rights; nothing: nobody knows of what.
  bool is_named(std::optional<FileRights> object, std::optional<FileRights> debug_file) {
    const UniqueFd copy = copy_of(file_content(symbol_fixture("symbols_stripped")));
    if (object) originals[inode_of(copy.get())] = *object;
    of_debug_file = debug_file;
    return is_named(copy.get());
  }

  TempTree tree{{"app/symbols_plain.debug", file_content(symbol_fixture("symbols_plain.debug"))}};
  bool copies = true;  // what is below is handed out as
  std::optional<FileRights> of_debug_file;
  std::map<ino_t, FileRights> originals;
};

// As in a rootless container.
TEST_F(DebugFileTest, OfCopiesTheOwnersOfTheOriginalsDecide) {
  EXPECT_TRUE(is_named(kOfUser, kOfUser));
  EXPECT_TRUE(is_named(kOfUser, kOfRoot));
  EXPECT_FALSE(is_named(kOfUser, kOfStranger));
  EXPECT_FALSE(is_named(kOfRoot, kOfUser));
  EXPECT_FALSE(is_named(kOfUser, kOfAll));
}

TEST_F(DebugFileTest, ACopyOfNobodyKnowsWhatNamesNothing) {
  EXPECT_FALSE(is_named(kOfUser, std::nullopt));
  EXPECT_FALSE(is_named(kOfRoot, std::nullopt));
  EXPECT_FALSE(is_named(std::nullopt, std::nullopt));
  EXPECT_FALSE(is_named(std::nullopt, kOfRoot)) << "it may be a file of a disk";
}

// What a file system says that anybody may have mounted holds for what lies on such ones, too. It
// does not name the functions of a file that others map from a disk.
TEST_F(DebugFileTest, ACopyDoesNotNameTheFunctionsOfAFileOfADisk) {
  const std::filesystem::path program = tree.root() / "app/symbols_stripped";
  std::filesystem::copy_file(symbol_fixture("symbols_stripped"), program);
  const UniqueFd object(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  of_debug_file = kOfRoot;
  EXPECT_FALSE(is_named(object.get()));
  copies = false;
  EXPECT_TRUE(is_named(object.get()));
}

TEST_F(DebugFileTest, OnlyRootsFileOfADiskNamesTheFunctionsOfACopy) {
  copies = false;
  if (::geteuid() != 0) GTEST_SKIP() << "root's files are root's to make";
  EXPECT_TRUE(is_named(kOfRoot, std::nullopt));
  EXPECT_TRUE(is_named(kOfUser, std::nullopt));
  const std::filesystem::path debug_file = tree.root() / "app/symbols_plain.debug";
  ASSERT_EQ(::chown(debug_file.c_str(), kUser, kUser), 0);
  EXPECT_FALSE(is_named(kOfUser, std::nullopt)) << "whose the copy is, its file system says";
  EXPECT_FALSE(is_named(kOfStranger, std::nullopt));
  EXPECT_FALSE(is_named(std::nullopt, std::nullopt));
}

TEST_F(DebugFileTest, AFileOfADiskNamesTheFunctionsOfOneOfTheSameOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "giving files away needs root";
  copies = false;
  const std::filesystem::path program = tree.root() / "app/symbols_stripped";
  const std::filesystem::path debug_file = tree.root() / "app/symbols_plain.debug";
  std::filesystem::copy_file(symbol_fixture("symbols_stripped"), program);
  ASSERT_EQ(::chown(debug_file.c_str(), kUser, kUser), 0);
  const UniqueFd object(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(is_named(object.get()));
  ASSERT_EQ(::chown(program.c_str(), kUser, kUser), 0);
  EXPECT_TRUE(is_named(object.get()));
}

}  // namespace
}  // namespace offcpud
