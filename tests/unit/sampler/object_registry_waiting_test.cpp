// SPDX-License-Identifier: Apache-2.0
// What could not be done when an object was mapped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "registry_waits.h"

namespace offcpud {
namespace {

// Those that mapped it before have it as well: a service maps its libraries once.
TEST_F(RegistryWaits, ATableThatIsMadeLateIsForAllThatMapIt) {
  make_with(kSpent);
  map(1, mapping(found_at("/first", 24)));
  const auto late = found_at("/late", 32);
  map(1, mapping(late, 2 * kBase));
  map(2, mapping(late));
  map(3, mapping(late));
  ASSERT_EQ(rule_at(kBase, 2), kNoRule);
  end(3);
  EXPECT_TRUE(turn_until([&] { return rule_at(kBase, 2) == 32 && rule_at(2 * kBase, 1) == 32; }));
  EXPECT_EQ(rule_at(kBase, 3), kNowhere);
  EXPECT_EQ(rule_at(kBase, 1), 24);
  const int opened = opens.opened["/late"];
  for (int i = 0; i < 10; ++i) turn();
  EXPECT_EQ(opens.opened["/late"], opened) << "it is settled";
  EXPECT_THAT(failures, testing::IsEmpty());
}

// It is made for a process that maps the object now; those before it have it, too.
TEST_F(RegistryWaits, ATableThatIsMadeForTheNextIsForThoseBefore) {
  make_with(kSpent);
  users = {{1, kAlice}, {2, kBob}};
  map(1, mapping(found_at("/first", 24)));
  const auto late = found_at("/late", 32);
  map(1, mapping(late, 2 * kBase));
  ASSERT_EQ(rule_at(2 * kBase, 1), kNoRule);
  map(2, mapping(late));
  EXPECT_EQ(rule_at(kBase, 2), 32);
  EXPECT_TRUE(turn_until([&] { return rule_at(2 * kBase, 1) == 32; }));
}

// Telling takes time, too: that of whose process is told.
TEST_F(RegistryWaits, WhoHasSpentHisTimeIsToldLater) {
  make_with({.at_once = std::chrono::nanoseconds(1), .per_second = 1e-9});
  users = {{1, kAlice}, {2, kBob}, {3, kCarol}};
  map(1, mapping(found_at("/first", 24)));
  const auto late = found_at("/late", 32);
  map(1, mapping(late, 2 * kBase));
  opens.outcomes[3] = Outcome::Refused;
  map(3, mapping(late));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // its file is not tried before
  map(2, mapping(late));
  ASSERT_EQ(rule_at(kBase, 2), 32);
  turn();
  EXPECT_EQ(rule_at(kBase, 3), 32);
  EXPECT_EQ(rule_at(2 * kBase, 1), kNoRule);
  map(3, mapping(found_at("/next", 24), 2 * kBase));
  EXPECT_EQ(rule_at(2 * kBase, 3), kNoRule) << "she has spent hers";
}

// To tell it of one takes a look at all of its mappings.
TEST_F(RegistryWaits, AProcessIsToldOfAllTablesAtOnce) {
  make_with();
  maps.fails = true;
  std::vector<Mapping> late;
  for (std::uint8_t i = 1; i <= 40; ++i) {
    late.push_back(mapping(found_at("/" + std::to_string(i), i), i * kBase));
  }
  for (const std::uint32_t tgid : {2U, 3U}) {
    for (const Mapping& one : late) map(tgid, one);
  }
  maps.fails = false;
  EXPECT_TRUE(turn_until([&] {
    return std::ranges::all_of(late, [&](const Mapping& one) { return rule_at(one.begin, 2) > 0; });
  }));
  EXPECT_LE(looked_at[2], 10);
}

TEST_F(RegistryWaits, TheFileOfALateTableIsHadFromWhoeverHasIt) {
  make_with(kSpent);
  map(1, mapping(found_at("/first", 24)));
  const auto late = found_at("/late", 32);
  map(1, mapping(late, 2 * kBase));
  map(2, mapping(late));
  opens.outcomes[2] = Outcome::Gone;
  EXPECT_TRUE(turn_until([&] { return rule_at(kBase, 2) == 32 && rule_at(2 * kBase, 1) == 32; }));
}

TEST_F(RegistryWaits, WhoIsSlowDelaysNoTablesOfOthers) {
  make_with(kSpent);
  users = {{1, kAlice}, {2, kBob}};
  map(1, mapping(found_at("/alice", 24)));
  for (std::uint64_t i = 2; i < 5; ++i) {
    map(1, mapping(found_at("/alice" + std::to_string(i), 32), i * kBase));
  }
  opens.outcomes[1] = Outcome::Slow;
  map(2, mapping(found_at("/bob", 24)));
  map(2, mapping(found_at("/late", 40), 2 * kBase));
  ASSERT_EQ(rule_at(2 * kBase, 2), kNoRule);
  EXPECT_TRUE(turn_until([&] { return rule_at(2 * kBase, 2) == 40; }));
  opens.outcomes.clear();
  EXPECT_TRUE(turn_until([&] { return rule_at(4 * kBase, 1) == 32; }));
}

// Processes that are gone before they are asked are not all one user's: whose object it is says so.
TEST_F(RegistryWaits, WhoIsGoneSpendsHisOwnTime) {
  make_with(kSpent);
  const auto of_user = [&](std::uint32_t user) {
    return mapping(found(elf_with(24), "/" + std::to_string(user), user), user * kSize);
  };
  map(1, of_user(kAlice));
  map(2, of_user(kBob));
  EXPECT_EQ(rule_at(kAlice * kSize, 1), 24);
  EXPECT_EQ(rule_at(kBob * kSize, 2), 24);
  const Mapping late = of_user(kAlice);
  map(3, late);
  EXPECT_EQ(rule_at(late.begin, 3), kNoRule);
}

// A large table lets windows of samples end in the middle of it, which is everybody's work.
TEST_F(RegistryWaits, WhatIsDoneForOthersMeanwhileIsNotCharged) {
  make_with({.at_once = std::chrono::milliseconds(50), .per_second = 1e-9});
  int calls = 0;
  tables->set_between([&] {
    ++calls;
    const auto until = thread_cpu_time() + std::chrono::milliseconds(60);
    while (thread_cpu_time() < until) continue;
  });
  CfiBytes large;
  const auto cie = large.cie();
  for (std::uint64_t i = 0; i < 5000; ++i) large.fde(cie, 0x10000 + 8 * i, 8);
  map(1, mapping(found(elf_file(large))));
  ASSERT_GT(calls, 0);
  map(1, mapping(found_at("/next", 32), 2 * kBase));
  EXPECT_EQ(rule_at(2 * kBase, 1), 32);
}

// A user's program that is refused mapped what all map: others have the file.
TEST_F(RegistryWaits, WhoIsRefusedKeepsNobodyElseFromBeingAsked) {
  make_with(kSpent);
  map(1, mapping(found_at("/first", 24)));
  const auto late = found_at("/late", 32);
  map(2, mapping(late));
  for (std::uint32_t tgid = 3; tgid < 10; ++tgid) {
    map(tgid, mapping(late));
    opens.outcomes[tgid] = Outcome::Refused;
  }
  EXPECT_TRUE(turn_until([&] { return rule_at(kBase, 2) == 32 && rule_at(kBase, 3) == 32; }));
}

// Nobody may map the object anew, so whoever maps it is asked again.
TEST_F(RegistryWaits, AFileThatCannotBeOpenedOnceIsOpenedLater) {
  make_with();
  const auto file = found_at("/first", 24);
  for (int i = 0; i < 12; ++i) turn();  // it is held no longer
  opens.outcomes[1] = Outcome::Refused;
  map(1, mapping(file));
  EXPECT_EQ(rule_at(kBase, 1), kNoRule);
  EXPECT_EQ(registry->symbols_of(*file->object), 0U);
  EXPECT_EQ(registry->late_tables(), 1U);
  opens.outcomes.clear();
  EXPECT_TRUE(turn_until([&] { return rule_at(kBase, 1) == 24; }));
  EXPECT_NE(registry->symbols_of(*file->object), 0U);
  EXPECT_EQ(registry->late_tables(), 1U);
}

// Thousands of processes with hundreds of objects would take more memory than all that the kernel
// knows of them.
TEST_F(RegistryWaits, RemembersNoMoreThanTheKernelsMapHolds) {
  maps.max_mappings = 1000;
  make_with(kSpent);
  map(1, mapping(found_at("/first", 24)));
  std::vector<Mapping> late;
  for (std::uint64_t i = 2; i < 42; ++i) {
    late.push_back(mapping(found_at("/late" + std::to_string(i), 32), i * kBase));
  }
  for (std::uint32_t tgid = 2; tgid < 200; ++tgid) {
    for (const Mapping& one : late) map(tgid, one);
    ASSERT_LE(registry->late_pairs(), tables->stats().mappings);
  }
  EXPECT_GT(room->taken_out(), 0U);
  EXPECT_GT(registry->late_pairs(), 100U);
  const Mapping& last = late.back();
  for (std::uint32_t tgid = 2; tgid < 200; ++tgid) {
    registry->mapping_removed({.tgid = tgid, .serial = 1}, last);
  }
  EXPECT_LE(registry->late_pairs(), tables->stats().mappings);

  maps.max_mappings = 0;  // nothing can be written
  for (std::uint32_t tgid = 2; tgid < 300; ++tgid) end(tgid);
  EXPECT_EQ(registry->late_pairs(), 0U);
  map(300, last);
  EXPECT_EQ(registry->late_pairs(), 0U);
}

// It is not made later: who maps the object has its table.
TEST_F(RegistryWaits, ACopyWithoutTimeCountsOnceAndAsAFile) {
  make_with({.at_once = std::chrono::nanoseconds(1), .per_second = 1e-9});
  const auto file = found_at("/first", 24);
  map(1, mapping(file));
  registry->copy_found(*file->object, elf_with(32));
  registry->copy_found(*file->object, elf_with(40));
  EXPECT_EQ(registry->copies_left_out(), 0U) << "the one who maps it may have time";
  map(1, mapping(file, 2 * kBase));
  map(1, mapping(file, 3 * kBase));
  EXPECT_EQ(registry->copies_left_out(), 2U);
  EXPECT_EQ(registry->late_tables(), 0U);
  registry->copy_found(*file->object, elf_with(48));
  for (int i = 0; i < 12; ++i) turn();
  EXPECT_EQ(registry->copies_left_out(), 3U) << "nobody's mapping was told of";
  registry->copy_found(*file->object, elf_with(56));
  registry->object_forgotten(*file->object);
  EXPECT_EQ(registry->copies_left_out(), 4U) << "nor will it be";
}

// An error of the kernel's is not the file's: it is said, and the table made once it is over.
TEST_F(RegistryWaits, ATableThatCouldNotBeWrittenIsWrittenLater) {
  make_with();
  maps.fails = true;
  map(1, mapping(found_at("/first", 24)));
  EXPECT_EQ(rule_at(kBase, 1), kNoRule);
  ASSERT_THAT(failures, testing::SizeIs(1));
  EXPECT_THAT(failures.front(), testing::HasSubstr("the kernel has no memory"));
  EXPECT_EQ(registry->late_tables(), 1U);
  maps.fails = false;
  EXPECT_TRUE(turn_until([&] { return rule_at(kBase, 1) == 24; }));
  EXPECT_EQ(registry->late_tables(), 1U);
}

// A process may end before its mappings are told of, and then nobody asks for its files.
TEST_F(RegistryWaits, FilesThatNobodyAsksForAreClosed) {
  make_with();
  opens.offsets["/first"] = 24;
  UniqueFd fd = elf_with(24);
  const int number = fd.get();
  const auto file = found(std::move(fd), "/first");
  const std::vector<Mapping> inherited(1025, mapping(file));
  registry->image_began({.tgid = 1, .serial = 1}, inherited);
  registry->image_ended({.tgid = 1, .serial = 1}, inherited);
  const auto is_open = [&] { return ::fcntl(number, F_GETFD) >= 0; };
  EXPECT_TRUE(is_open());
  for (int i = 0; i < 4; ++i) turn();
  EXPECT_TRUE(is_open()) << "the turn of the process may come";
  for (int i = 0; i < 10; ++i) turn();
  EXPECT_FALSE(is_open());
  map(2, mapping(file));
  EXPECT_EQ(rule_at(kBase, 2), 24) << "whoever maps it has the file";
  EXPECT_NE(registry->symbols_of(*file->object), 0U);
}

TEST_F(RegistryWaits, AnObjectWithoutRootWaitsOnce) {
  make_with();
  opens.roots[1] = Outcome::Refused;
  const auto file = found_at("/first", 24);
  map(1, mapping(file));
  registry->object_found(file->object, *file, elf_with(24));
  map(1, mapping(file, 2 * kBase));
  opens.roots.clear();
  opens.asked.clear();
  turn();
  turn();
  EXPECT_THAT(opens.asked, testing::ElementsAre(1U));
}

// One process with many libraries is refused: others' are looked for all the same.
TEST_F(RegistryWaits, WhoIsRefusedDelaysNoNamesOfOthers) {
  make_with();
  users = {{1, kAlice}, {2, kBob}, {3, kAlice}};
  for (std::uint32_t tgid = 1; tgid <= 3; ++tgid) opens.roots[tgid] = Outcome::Refused;
  for (std::uint64_t i = 0; i < 32; ++i) {
    map(1, mapping(found_at("/alice" + std::to_string(i), 24), (i + 1) * kBase));
  }
  map(2, mapping(found_at("/bob", 24)));
  map(3, mapping(found_at("/alice", 24)));
  opens.roots = {{1, Outcome::Refused}};
  opens.asked.clear();
  turn();
  EXPECT_THAT(opens.asked, testing::Contains(2U));
  turn();
  turn();
  EXPECT_THAT(opens.asked, testing::Contains(3U)) << "within a round of all";

  opens.roots = {{1, Outcome::Slow}};
  opens.asked.clear();
  turn();
  EXPECT_THAT(opens.asked, testing::ElementsAre(1U)) << "who had us wait is not asked again now";
}

}  // namespace
}  // namespace offcpud
