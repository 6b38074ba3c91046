// SPDX-License-Identifier: Apache-2.0
// What TableStore answers to the daemon, against what the kernel programs find in the maps.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "fake_unwind_maps.h"
#include "unit/elf/elf_bytes.h"
#include "unwind/table_store.h"

namespace offcpud {
namespace {

using test::kBase;
using test::kTgid;

struct TableStoreLookupTest : testing::Test {
  TableStoreLookupTest() : store(*TableStore::create(maps)) {}

  void expect_the_same(std::uint32_t tgid, std::uint64_t address) {
    const auto expected = maps.find(tgid, address);
    const auto place = store.place(tgid, address);
    ASSERT_EQ(place.has_value(), expected.has_value()) << std::hex << address;
    if (!place) return;
    const auto* mapping = maps.mapping_at(tgid, address);
    EXPECT_EQ(place->begin, mapping->begin);
    EXPECT_EQ(place->end, mapping->end);
    EXPECT_EQ(place->bias, mapping->bias);
    EXPECT_EQ(place->object, mapping->object);
    ASSERT_TRUE(UnwindRuleEqual()(store.rule(place->object, address - place->bias), *expected))
        << std::hex << address;
  }

  FakeUnwindMaps maps;
  TableStore store;
};

TEST_F(TableStoreLookupTest, FindsEveryRuleOfLibcAsTheProgramsDo) {
  const UniqueFd file(::open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC));
  if (!file) GTEST_SKIP() << "no libc where Debian has it";
  const auto elf = read_elf_object(file.get());
  ASSERT_TRUE(elf);
  const ExecutableSegment segment = elf->segments.at(0);
  const auto object = store.add_object(file.get());
  ASSERT_TRUE(object);
  ASSERT_TRUE(store.add_mapping(kTgid, kBase, kBase + segment.size, segment.file_offset, *object));
  std::size_t with_rule = 0;
  for (std::uint64_t at = 0; at < segment.size; at += 61) {
    expect_the_same(kTgid, kBase + at);
    with_rule += store.rule(*object, segment.address + at).kind == OFFCPUD_UNWIND_RSP;
  }
  EXPECT_GT(with_rule, segment.size / 61 / 2);  // it is not that neither knows anything
}

TEST_F(TableStoreLookupTest, KnowsTheEdgesOfMappings) {
  CfiBytes cfi;
  cfi.fde(cfi.cie(), 0x10000, 0x100);
  const UniqueFd file = elf_file(cfi);
  const auto object = store.add_object(file.get());
  ASSERT_TRUE(object);
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t begin = kBase + random() % 64 * 4096;
    const std::uint64_t end = begin + (1 + random() % 8) * 4096;
    if (random() % 3 == 0) {
      ASSERT_TRUE(store.remove_mappings(kTgid, begin, end));
    } else {
      const auto mapped = random() % 3 == 0 ? OFFCPUD_UNWIND_NO_OBJECT : *object;
      ASSERT_TRUE(store.add_mapping(kTgid, begin, end, random() % 128 * 4096, mapped));
    }
    for (std::uint64_t page = 0; page <= 73; ++page) {
      expect_the_same(kTgid, kBase + page * 4096 - 1);
      expect_the_same(kTgid, kBase + page * 4096);
    }
  }
  expect_the_same(kTgid + 1, kBase);
  expect_the_same(kTgid, 0);
  expect_the_same(kTgid, UINT64_MAX);
}

// Processes map the original, so that is what the programs look for; and another copy of it is
// known.
TEST_F(TableStoreLookupTest, ACopyIsKnownAsWhatItIsACopyOf) {
  CfiBytes cfi;
  cfi.fde(cfi.cie(), 0x10000, 0x100);
  const FileVersion original{.inode = {7, 8, 99}, .size = 4711, .changed_ns = 5};
  const auto object = store.add_object(elf_file(cfi).get(), {}, original);
  ASSERT_TRUE(object);
  ASSERT_EQ(maps.files.size(), 1U);
  const auto& [key, file] = *maps.files.begin();
  EXPECT_EQ(key, (std::array<std::uint64_t, 3>{99, 4711, 7U << 20 | 8}));
  EXPECT_EQ(file.object, *object);
  const std::uint64_t compiled = store.stats().compiled;
  EXPECT_EQ(*store.add_object(elf_file(cfi).get(), {}, original), *object);
  EXPECT_EQ(store.stats().compiled, compiled);
}

TEST_F(TableStoreLookupTest, SaysNothingOfWhatItDoesNotKnow) {
  CfiBytes cfi;
  cfi.fde(cfi.cie(), 0x20000, 0x100);
  const UniqueFd file = elf_file(cfi);
  const auto object = store.add_object(file.get());
  ASSERT_TRUE(object);
  EXPECT_EQ(store.rule(*object, 0x20000).kind, OFFCPUD_UNWIND_RSP);
  EXPECT_EQ(store.rule(*object, 0x1ffff).kind, OFFCPUD_UNWIND_NO_FDE);  // a page without rows
  EXPECT_EQ(store.rule(*object, 0x20100).kind, OFFCPUD_UNWIND_NO_FDE);  // behind the function
  EXPECT_EQ(store.rule(*object, UINT64_MAX).kind, OFFCPUD_UNWIND_NO_FDE);
  EXPECT_EQ(store.rule(*object + 1, 0x20000).kind, OFFCPUD_UNWIND_NO_FDE);
  EXPECT_EQ(store.rule(OFFCPUD_UNWIND_NO_OBJECT, 0x20000).kind, OFFCPUD_UNWIND_NO_FDE);
}

}  // namespace
}  // namespace offcpud
