// SPDX-License-Identifier: Apache-2.0
#include "unwind/table_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "elf/vdso.h"
#include "fake_unwind_maps.h"
#include "unit/elf/elf_bytes.h"

namespace offcpud {
namespace {

using test::kBase;
using test::kTgid;

// Text whose rules depend on `seed`; `pages` pages with `rows` rows each.
CfiBytes text(std::uint8_t seed, std::uint64_t pages = 1, std::uint32_t rows = 4) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  for (std::uint64_t page = 1; page <= pages; ++page) {
    CfiBytes::Instructions code;
    for (std::uint32_t i = 0; i + 2 < rows; ++i) {
      code.insert(code.end(), {0x41, 0x0e, static_cast<std::uint8_t>(i % 2 ? seed : 16)});
    }
    cfi.fde(cie, page << 16, 0xffff, code);
  }
  return cfi;
}

class TableStoreTest : public ::testing::Test {
 protected:
  TableStore store(const TableStoreLimits& limits = {}) {
    auto created = TableStore::create(maps, limits);
    EXPECT_TRUE(created);
    return std::move(*created);
  }
  static UnwindObjectId added(TableStore& store, const UniqueFd& file) {
    const auto object = store.add_object(file.get());
    EXPECT_TRUE(object) << object.error().message();
    return object ? *object : 0;
  }
  // One more file with the same contents.
  static UniqueFd copy_added(TableStore& store) {
    UniqueFd file = elf_file(text(24));
    (void)added(store, file);
    return file;
  }
  static std::vector<UniqueFd> copies_added(TableStore& store, std::size_t count) {
    std::vector<UniqueFd> files(count);
    std::ranges::generate(files, [&store] { return copy_added(store); });
    return files;
  }
  static void map(TableStore& store, std::uint32_t tgid, std::uint64_t begin, std::uint64_t size,
                  std::uint64_t offset, UnwindObjectId object) {
    const auto status = store.add_mapping(tgid, begin, begin + size, offset, object);
    EXPECT_TRUE(status) << status.error().message();
  }
  // The CFA offset at an address, -1 where nothing is mapped, -2 where there is no rule.
  [[nodiscard]] int offset_at(std::uint64_t address, std::uint32_t tgid = kTgid) const {
    const auto rule = maps.find(tgid, address);
    if (!rule) return -1;
    return rule->kind == OFFCPUD_UNWIND_RSP ? rule->cfa_offset : -2;
  }
  FakeUnwindMaps maps;
};

TEST_F(TableStoreTest, LeadsFromAddressesInMemoryToRules) {
  auto tables = store();
  const UnwindObjectId object = added(tables, elf_file(text(24)));
  map(tables, kTgid, kBase, 0x20000, 0x1000, object);  // 0x1000 as linked
  EXPECT_EQ(offset_at(kBase + 0xf000), 8);
  EXPECT_EQ(offset_at(kBase + 0xf001), 16);
  EXPECT_EQ(offset_at(kBase + 0xf002), 24);
  EXPECT_EQ(offset_at(kBase), -2);
  EXPECT_EQ(offset_at(kBase - 1), -1);
  EXPECT_EQ(offset_at(kBase + 0x20000), -1);
  EXPECT_EQ(offset_at(kBase + 0xf000, kTgid + 1), -1);
}

TEST_F(TableStoreTest, SaysTheSameAsTheTableOfARealObject) {
  auto tables = store();
  const UniqueFd file(::open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  const auto elf = read_elf_object(file.get());
  const auto table = compile_unwind_table(*elf);
  const ExecutableSegment& segment = elf->segments.at(0);
  map(tables, kTgid, kBase, segment.size, segment.file_offset, added(tables, file));
  for (std::uint64_t at = 0; at < segment.size; at += 97) {
    const auto rule = maps.find(kTgid, kBase + at);
    ASSERT_TRUE(rule);
    ASSERT_TRUE(UnwindRuleEqual()(*rule, table->find(segment.address + at))) << at;
  }
  EXPECT_EQ(tables.stats().rows, table->rows.size());
}

TEST_F(TableStoreTest, KeepsOneTableForEqualContents) {
  auto tables = store();
  const UniqueFd first = elf_file(text(24)), copy = elf_file(text(24)), other = elf_file(text(32));
  const UnwindObjectId object = added(tables, first);
  EXPECT_EQ(added(tables, first), object);
  EXPECT_EQ(added(tables, copy), object);
  EXPECT_NE(added(tables, other), object);
  EXPECT_EQ(tables.stats().compiled, 2U);
}

TEST_F(TableStoreTest, KnowsTheLatestOfManyFilesWithEqualContents) {
  auto tables = store();
  const auto files = copies_added(tables, 65);
  EXPECT_EQ(maps.files.size(), 64U);
  (void)added(tables, files.front());
  EXPECT_EQ(maps.files.size(), 64U);
  EXPECT_EQ(tables.stats().compiled, 1U);
}

// chmod and further links change the time; the kernel has one file all the same.
TEST_F(TableStoreTest, AFileIsOneForTheKernelWhateverItsTimes) {
  auto tables = store();
  const UniqueFd first = copy_added(tables);
  ASSERT_EQ(::fchmod(first.get(), 0700), 0);
  (void)added(tables, first);
  const auto others = copies_added(tables, 63);  // of the two it knows the later one only
  EXPECT_EQ(maps.files.size(), 64U);
  EXPECT_EQ(tables.stats().compiled, 1U);
}

TEST_F(TableStoreTest, AFileThatIsAddedAgainStays) {
  auto tables = store();
  const UniqueFd often = elf_file(text(24));
  struct stat info {};
  ASSERT_EQ(::fstat(often.get(), &info), 0);
  std::vector<UniqueFd> others;
  for (int i = 0; i < 100; ++i) {
    (void)added(tables, often);
    others.push_back(copy_added(tables));
  }
  EXPECT_EQ(std::ranges::count_if(maps.files,
                                  [&](const auto& entry) { return entry.first[0] == info.st_ino; }),
            1);
}

TEST_F(TableStoreTest, WithoutRoomForItsFileAnObjectHasItsTable) {
  maps.most_files = 0;
  auto tables = store();
  map(tables, kTgid, kBase, 0x20000, 0x1000, added(tables, elf_file(text(24))));
  EXPECT_EQ(offset_at(kBase + 0xf000), 8);
}

TEST_F(TableStoreTest, ReplacesWhatIsMappedOver) {
  auto tables = store();
  const UnwindObjectId a = added(tables, elf_file(text(24)));
  const UnwindObjectId b = added(tables, elf_file(text(32)));
  map(tables, kTgid, kBase, 0x30000, 0, a);
  map(tables, kTgid, kBase + 0x10000, 0x1000, 0x10000, b);
  EXPECT_EQ(offset_at(kBase + 0x10002), 32);
  EXPECT_EQ(offset_at(kBase + 0x11000), 24);
  EXPECT_EQ(maps.mapping_at(kTgid, kBase + 0xffff)->object, a);
  EXPECT_EQ(maps.mapping_at(kTgid, kBase + 0x11000)->object, a);
  EXPECT_EQ(tables.stats().mappings, 3U);
}

TEST_F(TableStoreTest, UnmapsTheMiddle) {
  auto tables = store();
  const UnwindObjectId object = added(tables, elf_file(text(24)));
  map(tables, kTgid, kBase, 0x30000, 0, object);
  ASSERT_TRUE(tables.remove_mappings(kTgid, kBase + 0x11000, kBase + 0x13000));
  EXPECT_EQ(offset_at(kBase + 0x10002), 24);
  EXPECT_EQ(offset_at(kBase + 0x11000), -1);
  EXPECT_EQ(offset_at(kBase + 0x12fff), -1);
  EXPECT_EQ(offset_at(kBase + 0x13000), 24);  // the bias is still that of the whole
  ASSERT_TRUE(tables.remove_mappings(kTgid, kBase, kBase + 0x30000));
  EXPECT_TRUE(maps.mappings.empty());
  EXPECT_EQ(tables.stats().processes, 0U);
  EXPECT_EQ(tables.stats().unused_objects, 1U);
}

TEST_F(TableStoreTest, FollowsForkAndExit) {
  auto tables = store();
  const UnwindObjectId object = added(tables, elf_file(text(24)));
  map(tables, kTgid, kBase, 0x20000, 0, object);
  ASSERT_TRUE(tables.copy_process(kTgid, 5));
  ASSERT_TRUE(tables.remove_process(kTgid));
  EXPECT_EQ(offset_at(kBase + 0x10002), -1);
  EXPECT_EQ(offset_at(kBase + 0x10002, 5), 24);
  EXPECT_EQ(tables.stats().unused_objects, 0U);
  ASSERT_TRUE(tables.remove_process(5));
  EXPECT_TRUE(maps.mappings.empty());
  EXPECT_EQ(tables.stats().unused_objects, 1U);
}

TEST_F(TableStoreTest, EvictsTheUnusedThatWasUsedLeastRecently) {
  // One chunk: two objects of 30,000 rows fit, three do not.
  auto tables = store({.row_bytes = sizeof(offcpud_unwind_chunk)});
  const UniqueFd files[] = {elf_file(text(24, 1, 30'000)), elf_file(text(32, 1, 30'000)),
                            elf_file(text(40, 1, 30'000))};
  const UnwindObjectId first = added(tables, files[0]), second = added(tables, files[1]);
  EXPECT_EQ(added(tables, files[0]), first);  // used again
  const UnwindObjectId third = added(tables, files[2]);
  EXPECT_EQ(tables.stats().evictions, 1U);
  EXPECT_EQ(added(tables, files[0]), first);
  EXPECT_FALSE(tables.add_mapping(kTgid, kBase, kBase + 0x20000, 0, second));
  map(tables, kTgid, kBase, 0x20000, 0, third);
  EXPECT_EQ(offset_at(kBase + 0x10002), 40);
  EXPECT_EQ(maps.chunks.size(), 1U);
}

TEST_F(TableStoreTest, NeverEvictsWhatIsMapped) {
  auto tables = store({.row_bytes = sizeof(offcpud_unwind_chunk)});
  const UniqueFd big = elf_file(text(24, 1, 40'000)), late = elf_file(text(32, 1, 40'000));
  map(tables, kTgid, kBase, 0x20000, 0, added(tables, big));
  const UnwindObjectId object = added(tables, late);
  EXPECT_EQ(tables.stats().without_room, 1U);
  map(tables, kTgid, 2 * kBase, 0x20000, 0, object);
  EXPECT_EQ(offset_at(2 * kBase + 0x10002), -2);  // mapped, without a table
  EXPECT_EQ(offset_at(kBase + 0x10002), 24);

  EXPECT_EQ(added(tables, late), object);  // nothing was freed: not tried again
  EXPECT_EQ(tables.stats().compiled, 2U);
  ASSERT_TRUE(tables.remove_process(kTgid + 1));
  ASSERT_TRUE(tables.remove_mappings(kTgid, kBase, kBase + 0x20000));
  const UniqueFd small = elf_file(text(40, 1, 30'000));
  EXPECT_NE(added(tables, small), object);  // evicts the big one
  EXPECT_EQ(added(tables, late), object);   // and now there is room
  EXPECT_EQ(offset_at(2 * kBase + 0x10002), 32);
}

// Those that find no room free nothing: they would wake each other for ever, at the cost of a table
// each time.
TEST_F(TableStoreTest, WhoFindsNoRoomWakesNobody) {
  auto tables = store({.row_bytes = sizeof(offcpud_unwind_chunk)});
  const UniqueFd big = elf_file(text(24, 1, 40'000));
  const UniqueFd late[] = {elf_file(text(32, 2, 20'000)), elf_file(text(40, 2, 20'000))};
  map(tables, kTgid, kBase, 0x20000, 0, added(tables, big));
  UnwindObjectId objects[2];
  for (std::uint64_t i = 0; i < 2; ++i) {
    objects[i] = added(tables, late[i]);  // its first page finds room, its second does not
    map(tables, kTgid, (2 + i) * kBase, 0x20000, 0, objects[i]);
  }
  ASSERT_EQ(tables.stats().without_room, 2U);
  EXPECT_FALSE(tables.is_to_add_again(objects[0]));
  EXPECT_FALSE(tables.is_to_add_again(objects[1]));
  ASSERT_TRUE(tables.remove_mappings(kTgid, kBase, kBase + 0x20000));
  added(tables, elf_file(text(48, 1, 30'000)));  // evicts the big one
  EXPECT_TRUE(tables.is_to_add_again(objects[0]));
  EXPECT_TRUE(tables.is_to_add_again(objects[1]));
}

// What could not be written is no table for which there is no room: it is written the next time.
TEST_F(TableStoreTest, AddsAgainWhatCouldNotBeWritten) {
  auto tables = store();
  const UniqueFd file = elf_file(text(24));
  maps.fails = true;
  const auto failed = tables.add_object(file.get());
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().kind(), ErrorKind::Unsupported);
  maps.fails = false;
  map(tables, kTgid, kBase, 0x20000, 0, added(tables, file));
  EXPECT_EQ(offset_at(kBase + 0x10002), 24);
}

// The file that is unused has to go for the next one, and cannot.
TEST_F(TableStoreTest, AddsAgainWhatFoundNoWayForItsFile) {
  auto tables = store();
  maps.most_files = 1;
  added(tables, elf_file(text(32)));
  const UniqueFd next = elf_file(text(40));
  maps.fails = true;
  EXPECT_FALSE(tables.add_object(next.get()));
  maps.fails = false;
  map(tables, kTgid, kBase, 0x20000, 0, added(tables, next));
  EXPECT_EQ(offset_at(kBase + 0x10002), 40);
}

// A file that is mapped already.
TEST_F(TableStoreTest, TellsWhatIsToBeWrittenAgain) {
  auto tables = store({.row_bytes = sizeof(offcpud_unwind_chunk)});
  const UniqueFd big = elf_file(text(24, 1, 40'000)), late = elf_file(text(32, 1, 40'000));
  map(tables, kTgid, kBase, 0x20000, 0, added(tables, big));
  const UnwindObjectId object = added(tables, late);
  map(tables, kTgid, 2 * kBase, 0x20000, 0, object);
  ASSERT_TRUE(tables.remove_mappings(kTgid, kBase, kBase + 0x20000));
  added(tables, elf_file(text(48, 1, 30'000)));  // evicts the big one
  maps.fails = true;
  EXPECT_FALSE(tables.add_object(late.get()));
  maps.fails = false;
  EXPECT_TRUE(tables.is_to_add_again(object));
  EXPECT_EQ(added(tables, late), object);
  EXPECT_EQ(offset_at(2 * kBase + 0x10002), 32);
}

TEST_F(TableStoreTest, TellsWhatIsNoElfFile) {
  auto tables = store();
  const auto not_elf = tables.add_object(UniqueFd(::memfd_create("text", MFD_CLOEXEC)).get());
  ASSERT_FALSE(not_elf);
  EXPECT_EQ(not_elf.error().kind(), ErrorKind::Unsupported);
}

TEST_F(TableStoreTest, GivesRulesAndRowsBack) {
  auto tables = store({.unused_objects = 1});
  const TableStoreStats empty = tables.stats();
  for (std::uint8_t seed = 24; seed < 120; seed = static_cast<std::uint8_t>(seed + 8)) {
    added(tables, elf_file(text(seed, 3)));
  }
  EXPECT_EQ(tables.stats().objects, 1U);
  EXPECT_EQ(tables.stats().rules, empty.rules + 3);
  EXPECT_EQ(maps.pages.size(), 3U);
  EXPECT_EQ(tables.stats().compiled, 12U);
}

TEST_F(TableStoreTest, TellsWhenAMapIsFull) {
  auto tables = store();
  const UnwindObjectId object = added(tables, elf_file(text(24)));
  maps.max_mappings = 3;
  const auto status = tables.add_mapping(kTgid, kBase + 0x1000, kBase + 0xff000, 0, object);
  ASSERT_FALSE(status);
  EXPECT_TRUE(maps.mappings.empty());  // no half of a mapping
  EXPECT_EQ(tables.stats().processes, 0U);
  EXPECT_EQ(tables.stats().unused_objects, 1U);
  EXPECT_TRUE(tables.add_mapping(kTgid, kBase, kBase + 0x10000, 0, object));
}

TEST_F(TableStoreTest, KnowsMappingsWithoutTables) {
  auto tables = store();
  map(tables, kTgid, kBase, 0x1000, 0, OFFCPUD_UNWIND_NO_OBJECT);  // a JIT's
  EXPECT_EQ(offset_at(kBase), -2);
  const UnwindObjectId bare = added(tables, elf_file(CfiBytes()));
  map(tables, kTgid, 2 * kBase, 0x1000, 0x1000, bare);
  EXPECT_EQ(offset_at(2 * kBase), -2);
  map(tables, kTgid, 3 * kBase, 0x1000, 0x800000, bare);  // not a part that is text
  EXPECT_EQ(maps.mapping_at(kTgid, 3 * kBase)->object, __u32{OFFCPUD_UNWIND_NO_OBJECT});
}

TEST_F(TableStoreTest, CountsFilesThatAskForTooMuch) {
  auto tables = store({.object = {.rows = 100}});
  EXPECT_TRUE(tables.add_object(elf_file(text(24, 1, 500)).get()));
  EXPECT_EQ(tables.stats().refused, 1U);
  EXPECT_EQ(tables.stats().rows, 0U);
  const UniqueFd no_elf(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(tables.add_object(no_elf.get()));
}

TEST_F(TableStoreTest, TakesTheVdso) {
  auto tables = store();
  const auto file = vdso_file();
  ASSERT_TRUE(file) << file.error().message();
  map(tables, kTgid, kBase, 0x1000, 0, added(tables, *file));
  EXPECT_GT(tables.stats().rows, 5U);
}

}  // namespace
}  // namespace offcpud
