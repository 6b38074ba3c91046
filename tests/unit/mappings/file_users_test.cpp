// SPDX-License-Identifier: Apache-2.0
// What files of one user, whose build-ids he chooses, do to the objects of others: nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes.h"
#include "mappings/file_table.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;
using UserIs = RootId::UserIs;
using test::build_id;
using testing::ElementsAre;

constexpr std::uint32_t kVictim = 26, kAttacker = 1000;

class FileUsersTest : public ::testing::Test {
 protected:
  // In the same root: the attacker may have mounted what he likes below it.
  std::shared_ptr<const MappedFile> map(const char* path, std::uint32_t user,
                                        UserIs user_is = UserIs::Own) {
    SeenMapping mapping;
    mapping.tgid = 1;
    mapping.build_id = build_id(1);
    mapping.root = {.device = 1, .inode = 2, .user = user, .user_is = user_is};
    mapping.path = path;
    if (user_is == UserIs::Own) opener_.user = user;
    return table_.file_of(mapping);
  }
  // An inode that a scan sees, whose build-id is learnt by opening it.
  std::shared_ptr<const MappedFile> scan(const char* path, std::uint32_t user) {
    SeenMapping mapping;
    mapping.tgid = 1;
    mapping.inode.inode = 77;
    mapping.root = {.device = 1, .inode = 2, .user = user, .user_is = UserIs::Own};
    mapping.copies = false;
    mapping.path = path;
    opener_.user = user;
    return table_.file_of(mapping);
  }

  test::FakeOpener opener_;
  std::vector<std::string> log_;
  FileTable table_{
      opener_,
      100,
      [this](const auto& object, const MappedFile& file, UniqueFd fd) {
        log_.push_back(std::to_string(object->id) + " " + file.path + (fd ? " open" : " closed"));
      },
      [this](const MappedObject& object, UniqueFd /*fd*/) {
        log_.push_back("copy of " + std::to_string(object.id));
      },
      [](const MappedObject& /*object*/) {},
      [this](std::uint32_t tgid, const RootId& root) {
        log_.push_back(std::to_string(tgid) + " is of " + std::to_string(root.user));
      }};
};

TEST_F(FileUsersTest, ABuildIdIsAnObjectOfEachUser) {
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  const auto forged = map("/p", kAttacker);
  const auto real = map("/p", kVictim);
  EXPECT_NE(forged->object, real->object);
  EXPECT_THAT(log_, ElementsAre("1 /p open", "2 /p open"));
  EXPECT_EQ(map("/p", kVictim)->object, real->object);
}

// His own file system, of which nothing is opened, under the name of the real one.
TEST_F(FileUsersTest, WhatIsNotOpenedForOneUserIsForAnother) {
  for (const auto outcome :
       {Outcome::Slow, Outcome::TooLarge, Outcome::Remote, Outcome::NotAFile, Outcome::Gone}) {
    opener_.files["/p"] = {outcome, {}};
    for (int i = 0; i < 20; ++i) (void)map("/p", kAttacker);
  }
  log_.clear();
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  (void)map("/p", kVictim);
  EXPECT_THAT(log_, ElementsAre("2 /p open"));
}

TEST_F(FileUsersTest, AnInodeIsLookedAtForEachUser) {
  for (int i = 0; i < 20; ++i) (void)scan("/p", kAttacker);
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  const auto file = scan("/p", kVictim);
  EXPECT_EQ(file->object->build_id, build_id(1));
  EXPECT_EQ(log_.back(), "2 /p open");
}

TEST_F(FileUsersTest, WhoIsGoneBorrowsTheObjectOfItsParentsUser) {
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  const auto own = map("/p", kVictim);
  const auto borrowed = map("/q", kVictim, UserIs::OfParent);
  EXPECT_EQ(borrowed->object, own->object);
  EXPECT_FALSE(own->borrowed);
  EXPECT_TRUE(borrowed->borrowed);
}

// As a child that became another user before it mapped a file of that one.
TEST_F(FileUsersTest, WhoIsGoneDecidesNothingForThoseWhoAreThere) {
  opener_.files["/forged"] = {Outcome::Opened, build_id(1)};
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  const auto forged = map("/forged", kVictim, UserIs::OfParent);
  const auto real = map("/p", kVictim);
  EXPECT_NE(forged->object, real->object);
  EXPECT_THAT(log_, ElementsAre("1 /forged open", "2 /p open"));
  EXPECT_EQ(map("/other", kVictim, UserIs::OfParent)->object, real->object);
}

// It mapped the file, executed sudo, and is asked then: what its path leads to is no file of root.
TEST_F(FileUsersTest, WhatIsFoundByItsPathIsNotTheUsers) {
  opener_.files["/forged"] = {Outcome::Opened, build_id(1)};
  opener_.by_path = {"/forged"};
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  const auto forged = map("/forged", 0);
  EXPECT_THAT(log_, ElementsAre("2 /forged open"));
  EXPECT_EQ(forged->object->id, 2U);
  const auto real = map("/p", 0);
  EXPECT_THAT(log_, ElementsAre("2 /forged open", "1 /p open"));
  EXPECT_EQ(real->object->id, 1U);
}

// It was executed by root and has become another user since, and he may have it map anything.
TEST_F(FileUsersTest, WhoWasRootDecidesNothingForRoot) {
  opener_.files["/forged"] = {Outcome::Opened, build_id(1)};
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  SeenMapping mapping;
  mapping.tgid = 7;
  mapping.build_id = build_id(1);
  mapping.root = {.device = 1, .inode = 2, .user = 0, .user_is = UserIs::Own};
  mapping.path = "/forged";
  opener_.user = kAttacker;
  const auto forged = table_.file_of(mapping);
  EXPECT_THAT(log_, ElementsAre("7 is of 1000", "2 /forged open"));
  EXPECT_EQ(forged->object, map("/x", kAttacker, UserIs::OfParent)->object);
  EXPECT_NE(forged->object, map("/p", 0, UserIs::OfParent)->object);
  EXPECT_NE(forged->object, map("/p", 0)->object);
}

// It maps the file, and executes sudo before it is asked for the second time.
TEST_F(FileUsersTest, WhoBecomesRootDecidesNothingForRoot) {
  opener_.files["/forged"] = {Outcome::Opened, build_id(1)};
  SeenMapping mapping;
  mapping.tgid = 7;
  mapping.build_id = build_id(1);
  mapping.root = {.device = 1, .inode = 2, .user = kAttacker, .user_is = UserIs::Own};
  mapping.path = "/forged";
  opener_.user = 0;
  const auto forged = table_.file_of(mapping);
  EXPECT_THAT(log_, ElementsAre("2 /forged open"));
  EXPECT_NE(forged->object, map("/p", 0, UserIs::OfParent)->object);
}

TEST_F(FileUsersTest, WhereOnlyThePathIsLeftThereAreNamesAllTheSame) {
  opener_.files["/p"] = {Outcome::Opened, build_id(1)};
  opener_.by_path = {"/p"};
  const auto first = map("/p", kVictim);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(map("/p", kVictim), first);
  EXPECT_EQ(opener_.requests.size(), 8U);
  EXPECT_EQ(map("/p", kVictim, UserIs::OfParent)->object, first->object);
}

}  // namespace
}  // namespace offcpud
