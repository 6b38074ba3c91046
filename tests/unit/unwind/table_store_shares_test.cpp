// SPDX-License-Identifier: Apache-2.0
// Who has a table when there is not room for all.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fake_unwind_maps.h"
#include "support/users.h"
#include "unit/elf/elf_bytes.h"
#include "unwind/table_store.h"

namespace offcpud {
namespace {

using test::kBase;
using test::kHog;
using test::kOther;

constexpr std::uint64_t kStep = 0x200000;
constexpr TableStoreLimits kOneChunk{.row_bytes = sizeof(offcpud_unwind_chunk)};

// Of text at 0x10000; `rows` of them have a rule of their own for the file, up to 100.
CfiBytes text_with_rules(std::uint8_t seed, std::uint32_t rows = 4, std::uint32_t pages = 1,
                         std::uint32_t rules = 2) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  for (std::uint32_t page = 1; page <= pages; ++page) {
    CfiBytes::Instructions code;
    for (std::uint32_t i = 0; i + 2 < rows; ++i) {
      const auto low = static_cast<std::uint8_t>(i % rules);
      code.insert(code.end(), {0x41, 0x0e, static_cast<std::uint8_t>(0x80 | seed), low});
    }
    cfi.fde(cie, std::uint64_t{page} << 16, 0xffff, code);
  }
  return cfi;
}

// Processes have the number of their user, times 10.
struct TableStoreSharesTest : testing::Test {
  void make(const TableStoreLimits& limits = {}) {
    store.emplace(*TableStore::create(maps, limits));
    store->set_users([](std::uint32_t tgid) -> ShareOwner { return tgid / 10; });
  }
  UnwindObjectId add(const CfiBytes& cfi, std::uint32_t user) {
    files.push_back(elf_file(cfi));
    const auto object = store->add_object(files.back().get(), user);
    EXPECT_TRUE(object);
    return object ? *object : 0;
  }
  void map(UnwindObjectId object, std::uint32_t user, std::uint64_t place = 0) {
    const std::uint64_t at = kBase + place * kStep;
    EXPECT_TRUE(store->add_mapping(user * 10, at, at + kStep / 2, 0, object));
  }
  UnwindObjectId mapped(const CfiBytes& cfi, std::uint32_t user, std::uint64_t place = 0) {
    const UnwindObjectId object = add(cfi, user);
    map(object, user, place);
    return object;
  }
  [[nodiscard]] bool has_table(std::uint32_t user, std::uint64_t place = 0) const {
    const auto rule = maps.find(user * 10, kBase + place * kStep + 0x10001);
    return rule && rule->kind == OFFCPUD_UNWIND_RSP;
  }
  FakeUnwindMaps maps;
  std::optional<TableStore> store;
  std::vector<UniqueFd> files;
};

TEST_F(TableStoreSharesTest, WhoMapsMostGivesWay) {
  make(kOneChunk);
  for (std::uint8_t i = 0; i < 6; ++i) (void)mapped(text_with_rules(i + 1, 10'000), kHog, i);
  (void)mapped(text_with_rules(20, 8'000), kOther);
  EXPECT_TRUE(has_table(kOther));
  EXPECT_EQ(store->stats().taken_out, 1U);
  EXPECT_EQ(store->stats().without_room, 0U);
  // Whoever has most gets nothing of others, and nothing of his own that he maps.
  (void)mapped(text_with_rules(21, 10'000), kHog, 7);
  EXPECT_FALSE(has_table(kHog, 7));
  EXPECT_TRUE(has_table(kOther));
  EXPECT_EQ(store->stats().taken_out, 1U);
  EXPECT_EQ(store->stats().without_room, 1U);
  EXPECT_LE(store->stats().rows, std::uint64_t{OFFCPUD_UNWIND_CHUNK_ROWS});
}

TEST_F(TableStoreSharesTest, WhatOthersMapStaysWhoeverMappedItFirst) {
  make(kOneChunk);
  const UnwindObjectId database = mapped(text_with_rules(1, 20'000), kHog);
  map(database, kOther);
  for (std::uint8_t i = 1; i < 10; ++i) (void)mapped(text_with_rules(i + 1, 5'000), kHog, i);
  EXPECT_TRUE(has_table(kOther));
  (void)mapped(text_with_rules(20, 10'000), 1001);
  EXPECT_TRUE(has_table(kOther));
  EXPECT_TRUE(has_table(1001));
}

TEST_F(TableStoreSharesTest, TheUnusedOfAnotherStay) {
  make(kOneChunk);
  const UnwindObjectId shell = add(text_with_rules(1, 5'000), kOther);
  for (std::uint8_t i = 1; i < 16; ++i) (void)mapped(text_with_rules(i + 1, 5'000), kHog, i);
  map(shell, kOther);  // would fail if it were gone
  EXPECT_TRUE(has_table(kOther));
}

TEST_F(TableStoreSharesTest, PagesAreShared) {
  maps.most_pages = 24;
  make();
  for (std::uint8_t i = 0; i < 3; ++i) (void)mapped(text_with_rules(i + 1, 4, 8), kHog, i);
  (void)mapped(text_with_rules(20, 4, 6), kOther);
  EXPECT_TRUE(has_table(kOther));
  EXPECT_EQ(store->stats().taken_out, 1U);
  EXPECT_LE(maps.pages.size(), 24U);
  (void)mapped(text_with_rules(21, 4, 14), kOther, 1);  // more than the hog has
  EXPECT_FALSE(has_table(kOther, 1));
  EXPECT_EQ(store->stats().without_room, 1U);
}

TEST_F(TableStoreSharesTest, RulesAreShared) {
  make({.rules = 200});
  for (std::uint8_t i = 0; i < 4; ++i) (void)mapped(text_with_rules(i + 1, 60, 1, 58), kHog, i);
  EXPECT_EQ(store->stats().without_room,
            1U);  // and not a table that has rules for half of its code
  EXPECT_FALSE(has_table(kHog, 3));
  (void)mapped(text_with_rules(20, 32, 1, 30), kOther);
  EXPECT_TRUE(has_table(kOther));
  EXPECT_EQ(store->stats().taken_out, 1U);
  EXPECT_LE(store->stats().rules, 200U);
}

TEST_F(TableStoreSharesTest, FilesAreShared) {
  maps.most_files = 8;
  make();
  for (std::uint8_t i = 0; i < 8; ++i) (void)mapped(text_with_rules(i + 1), kHog, i);
  EXPECT_EQ(maps.files.size(), 8U);
  const UnwindObjectId object = mapped(text_with_rules(20), kOther);
  EXPECT_EQ(std::ranges::count_if(maps.files,
                                  [=](const auto& file) { return file.second.object == object; }),
            1);
  EXPECT_EQ(store->stats().files_left_out, 1U);  // of the hog
  for (std::uint8_t i = 0; i < 8; ++i) EXPECT_TRUE(has_table(kHog, i));
  (void)mapped(text_with_rules(21), kHog, 9);
  EXPECT_EQ(store->stats().files_left_out, 2U);
}

// Of a user's own unused tables many go at once, as comparing all of them takes milliseconds.
TEST_F(TableStoreSharesTest, ManyUnusedOnesGoTogether) {
  make(kOneChunk);
  for (std::uint32_t i = 0; i < 400; ++i) {
    (void)add(text_with_rules(static_cast<std::uint8_t>(i % 100), 200 + i), kHog);
  }
  const auto evictions = store->stats().evictions;
  EXPECT_GT(evictions, 100U);
  EXPECT_GE(store->stats().rows, std::uint64_t{OFFCPUD_UNWIND_CHUNK_ROWS} * 9 / 10);
}

}  // namespace
}  // namespace offcpud
