// SPDX-License-Identifier: Apache-2.0
#include "mappings/file_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;
using test::build_id;
using testing::ElementsAre;

class FileTableTest : public ::testing::Test {
 protected:
  static SeenMapping seen(const char* path, BuildId id, std::uint64_t inode = 0) {
    SeenMapping mapping;
    mapping.tgid = 1;
    mapping.build_id = id;
    mapping.inode.inode = inode;
    mapping.path = path;
    return mapping;
  }
  test::FakeOpener opener_;
  std::vector<std::string> log_;
  FileTable table_{
      opener_, 2,
      [this](const auto& object, const MappedFile& file, UniqueFd fd) {
        log_.push_back(std::to_string(object->id) + " " + file.path + (fd ? " open" : " closed"));
      },
      [this](const MappedObject& object, UniqueFd fd) {
        log_.push_back("copy of " + std::to_string(object.id) + (fd ? " open" : " closed"));
      },
      [this](const MappedObject& object) {
        log_.push_back(std::to_string(object.id) + " forgotten");
      }};
};

TEST_F(FileTableTest, CopiesOfAFileAreOneObjectUnderTheirOwnNames) {
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  const auto a = table_.file_of(seen("/a", build_id(1)));
  const auto b = table_.file_of(seen("/b", build_id(1)));
  EXPECT_NE(a, b);
  EXPECT_EQ(a->object, b->object);
  EXPECT_EQ(table_.file_of(seen("/a", build_id(1))), a);
  EXPECT_THAT(log_, ElementsAre("1 /a open"));
  EXPECT_EQ(opener_.requests.size(), 1U);
}

TEST_F(FileTableTest, CopiesAreOpenedOnceForEachRootAndPath) {
  constexpr RootId kHost{1, 2}, kContainer{3, 2};
  const auto at = [this](const char* path, RootId root) {
    SeenMapping mapping = seen(path, build_id(1));
    mapping.root = root;
    (void)table_.file_of(mapping);
  };
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  opener_.files["/b"] = {Outcome::Opened, build_id(1)};
  at("/a", kHost);
  EXPECT_FALSE(opener_.requests.back().root.known());
  for (int i = 0; i < 3; ++i) at("/a", kContainer);
  EXPECT_EQ(opener_.requests.back().root, kContainer);
  at("/b", kHost);
  at("/a", kContainer);
  EXPECT_THAT(log_, ElementsAre("1 /a open", "copy of 1 open", "copy of 1 open"));
  EXPECT_EQ(opener_.requests.size(), 3U);
  at("/a", {});  // nobody knows where that is
  EXPECT_EQ(opener_.requests.size(), 3U);
}

TEST_F(FileTableTest, CopiesThatAreGoneAreTriedAgainAFewTimes) {
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  (void)table_.file_of(seen("/a", build_id(1)));
  SeenMapping gone = seen("/gone", build_id(1));
  gone.root = {1, 2};
  for (int i = 0; i < 10; ++i) (void)table_.file_of(gone);
  EXPECT_EQ(opener_.requests.size(), 1U + 3U);
  table_.prune();
  for (int i = 0; i < 10; ++i) (void)table_.file_of(gone);
  EXPECT_EQ(opener_.requests.size(), 1U + 3U + 3U);
  EXPECT_THAT(log_, ElementsAre("1 /a open"));
}

TEST_F(FileTableTest, OfTooManyPlacesTheRestWaitsForTheNextPrune) {
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  SeenMapping mapping = seen("/a", build_id(1));
  const auto kept = table_.file_of(mapping);
  const auto look_at_all = [&] {
    for (std::uint64_t root = 1; root <= 60; ++root) {
      mapping.root = {1, root};
      (void)table_.file_of(mapping);
    }
  };
  look_at_all();
  look_at_all();
  EXPECT_EQ(opener_.requests.size(), 1U + 48U);
  table_.prune();
  look_at_all();
  EXPECT_EQ(opener_.requests.size(), 1U + 48U + 48U);
}

TEST_F(FileTableTest, AnInodeIsTheObjectOfItsBuildId) {
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  const auto by_event = table_.file_of(seen("/a", build_id(1)));
  const auto by_maps = table_.file_of(seen("/a", {}, 77));
  EXPECT_EQ(by_event, by_maps);
  const std::size_t opens = opener_.requests.size();
  EXPECT_EQ(table_.file_of(seen("/a", {}, 77)), by_event);  // known by now
  EXPECT_EQ(opener_.requests.size(), opens);
}

// As in two subvolumes of a btrfs file system, and in the roots of two containers there.
TEST_F(FileTableTest, AnInodeAtAnotherPathOrInAnotherRootIsAnotherObject) {
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  opener_.files["/b"] = {Outcome::Opened, build_id(2)};
  const auto a = table_.file_of(seen("/a", BuildId(), 257));
  const auto b = table_.file_of(seen("/b", BuildId(), 257));
  EXPECT_EQ(b->object->build_id, build_id(2));
  opener_.files["/a"] = {Outcome::Opened, BuildId()};
  SeenMapping elsewhere = seen("/a", BuildId(), 257);
  elsewhere.root = {3, 256};
  EXPECT_NE(table_.file_of(elsewhere)->object, a->object);
}

TEST_F(FileTableTest, AnInodeIsForgottenWithItsMappings) {
  opener_.files["/a"] = {Outcome::Opened, {}};
  const std::uint64_t first = table_.file_of(seen("/a", {}, 77))->object->id;
  table_.prune();
  const std::uint64_t second = table_.file_of(seen("/a", {}, 77))->object->id;
  EXPECT_NE(first, second);
  EXPECT_THAT(log_, ElementsAre("1 /a open", "1 forgotten", "2 /a open"));
}

TEST_F(FileTableTest, ObjectsWithBuildIdAreKeptUpToTheLimitOldestGoFirst) {
  for (std::uint8_t i = 1; i <= 4; ++i) {
    opener_.files["/x"] = {Outcome::Opened, build_id(i)};
    (void)table_.file_of(seen("/x", build_id(i)));
  }
  log_.clear();
  table_.prune();
  EXPECT_THAT(log_, testing::UnorderedElementsAre("1 forgotten", "2 forgotten"));
  EXPECT_EQ(table_.objects(), 2U);
}

TEST_F(FileTableTest, WhatCouldNotBeOpenedIsTriedAgainAFewTimes) {
  const auto file = table_.file_of(seen("/a", build_id(1)));
  EXPECT_THAT(log_, ElementsAre("1 /a closed"));
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  (void)table_.file_of(seen("/a", build_id(1)));
  EXPECT_THAT(log_, ElementsAre("1 /a closed", "1 /a open"));

  for (int i = 0; i < 100; ++i) (void)table_.file_of(seen("/b", build_id(2)));
  EXPECT_EQ(opener_.requests.size(), 2U + 8U);
  EXPECT_EQ(table_.counts().attempts[static_cast<std::size_t>(Outcome::Gone)], 9U);
}

TEST_F(FileTableTest, WhatCouldNotBeOpenedAtOnePlaceIsOpenedAtAnother) {
  opener_.files["/nfs/a"] = {Outcome::Remote, {}};
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  for (int i = 0; i < 3; ++i) (void)table_.file_of(seen("/nfs/a", build_id(1)));
  for (int i = 0; i < 20; ++i) (void)table_.file_of(seen("/gone", build_id(1)));
  EXPECT_EQ(opener_.requests.size(), 1U + 8U);
  (void)table_.file_of(seen("/a", build_id(1)));
  EXPECT_THAT(log_, ElementsAre("1 /nfs/a closed", "1 /a open"));
}

TEST_F(FileTableTest, WhatCouldNotBeOpenedIsForgivenByAndBy) {
  opener_.files["/nfs"] = {Outcome::Slow, {}};
  (void)table_.file_of(seen("/nfs", build_id(1)));
  const auto kept = table_.file_of(seen("/nfs", build_id(1)));
  table_.prune();
  (void)table_.file_of(seen("/nfs", build_id(1)));
  EXPECT_EQ(opener_.requests.size(), 1U);
  table_.forgive();
  opener_.files["/nfs"] = {Outcome::Opened, build_id(1)};
  (void)table_.file_of(seen("/nfs", build_id(1)));
  EXPECT_THAT(log_, ElementsAre("1 /nfs closed", "1 /nfs open"));
}

// 48 that cannot be opened, in one container, are all that is looked at between two looks.
TEST_F(FileTableTest, PlacesOfOneRootDoNotKeepOthersFromBeingLookedAt) {
  const auto at = [this](const std::string& path, RootId root) {
    SeenMapping mapping = seen(path.c_str(), build_id(1));
    mapping.root = root;
    return table_.file_of(mapping)->object;
  };
  for (int i = 0; i < 100; ++i) (void)at("/bad" + std::to_string(i), {1, 2});
  EXPECT_EQ(opener_.requests.size(), 48U);
  opener_.files["/a"] = {Outcome::Opened, build_id(1)};
  (void)at("/a", {1, 2});  // of the same one
  EXPECT_THAT(log_, ElementsAre("1 /bad0 closed"));
  (void)at("/a", {3, 2});
  EXPECT_THAT(log_, ElementsAre("1 /bad0 closed", "1 /a open"));
}

TEST_F(FileTableTest, RemoteFilesAreNotTriedAgain) {
  opener_.files["/nfs"] = {Outcome::Remote, {}};
  const auto file = table_.file_of(seen("/nfs", build_id(1)));
  EXPECT_EQ(table_.file_of(seen("/nfs", build_id(1))), file);
  EXPECT_EQ(opener_.requests.size(), 1U);
  EXPECT_THAT(log_, ElementsAre("1 /nfs closed"));
}

TEST_F(FileTableTest, KindsOfMappings) {
  EXPECT_EQ(table_.file_of(seen("//anon", {}))->kind, MappedFile::Kind::Anonymous);
  EXPECT_EQ(table_.file_of(seen("", {})), table_.file_of(seen("//anon", {})));
  EXPECT_EQ(table_.file_of(seen("[anon: JIT]", {}))->kind, MappedFile::Kind::Anonymous);
  EXPECT_EQ(table_.file_of(seen("[vdso]", {}))->kind, MappedFile::Kind::Vdso);
  EXPECT_EQ(table_.file_of(seen("[uprobes]", {}))->kind, MappedFile::Kind::Other);
  EXPECT_EQ(table_.counts().unnamed, 0U);
  const auto unnamed = table_.file_of(seen("//toolong", {}));
  EXPECT_EQ(unnamed->kind, MappedFile::Kind::File);
  EXPECT_EQ(unnamed->object, nullptr);
  EXPECT_EQ(table_.counts().unnamed, 1U);
  EXPECT_EQ(table_.file_of(seen("//toolong", build_id(1)))->path, "");
}

TEST_F(FileTableTest, DeletedFiles) {
  const auto file = table_.file_of(seen("/memfd:x (deleted)", build_id(1)));
  EXPECT_TRUE(file->deleted);
  EXPECT_EQ(file->path, "/memfd:x");
  EXPECT_TRUE(opener_.requests.front().deleted);
}

}  // namespace
}  // namespace offcpud
