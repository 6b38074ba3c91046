// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "base/unique_handle.h"
#include "unit/elf/cfi_bytes.h"

namespace offcpud {
namespace {

constexpr __u8 kRsp = OFFCPUD_UNWIND_RSP, kNoFde = OFFCPUD_UNWIND_NO_FDE;

UnwindTable compiled(const CfiBytes& cfi) {
  auto table = compile_unwind_table(cfi.object());
  EXPECT_TRUE(table) << table.error().message();
  return std::move(*table);
}

TEST(UnwindTable, ChangesRulesExactlyWhereTheInstructionsSay) {
  CfiBytes cfi;
  cfi.fde(cfi.cie(), 0x2000, 0x40, {0x41, 0x0e, 16, 0x02, 0x20, 0x0e, 8});
  const UnwindTable table = compiled(cfi);
  EXPECT_EQ(table.find(0x1fff).kind, kNoFde);
  EXPECT_EQ(table.find(0x2000).cfa_offset, 8);
  EXPECT_EQ(table.find(0x2001).cfa_offset, 16);
  EXPECT_EQ(table.find(0x2020).cfa_offset, 16);
  EXPECT_EQ(table.find(0x2021).cfa_offset, 8);
  EXPECT_EQ(table.find(0x203f).cfa_offset, 8);
  EXPECT_EQ(table.find(0x2040).kind, kNoFde);
}

TEST(UnwindTable, CarriesARuleIntoEveryPageOfALongFunction) {
  CfiBytes cfi;
  cfi.fde(cfi.cie(), 0x1fff0, 0x30010);  // two whole pages, and 16 bytes before them
  const UnwindTable table = compiled(cfi);
  ASSERT_EQ(table.pages.size(), 4U);
  EXPECT_EQ(table.pages[0].number, 1U);
  for (const UnwindTable::Page& page : table.pages) EXPECT_EQ(table.rows[page.first].address, 0);
  for (const std::uint64_t in : {0x1fff0, 0x20000, 0x2ffff, 0x3abcd, 0x4ffff}) {
    EXPECT_EQ(table.find(in).kind, kRsp) << in;
  }
  for (const std::uint64_t out : {0x10000, 0x1ffef, 0x50000, 0x60000}) {
    EXPECT_EQ(table.find(out).kind, kNoFde) << out;
  }
}

// The kernel has 65,536 pages and rules, and 16 million rows, for all files.
TEST(UnwindTable, OneFileHasAShareOfWhatIsThereForAll) {
  const auto spanning = [](std::uint64_t pages) {
    CfiBytes cfi;
    cfi.fde(cfi.cie(), 0x10000, pages << 16);
    ElfObject object = cfi.object();
    object.segments = {{.file_offset = 0, .address = 0, .size = std::uint64_t{1} << 40}};
    return object;
  };
  const auto largest = compile_unwind_table(spanning(8'191));
  ASSERT_TRUE(largest) << largest.error().message();
  EXPECT_FALSE(compile_unwind_table(spanning(8'200)));

  CfiBytes cfi;  // each row with a rule of its own
  const auto cie = cfi.cie();
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    const auto low = static_cast<std::uint8_t>(i & 0x7f), high = static_cast<std::uint8_t>(i >> 7);
    cfi.fde(
        cie, 0x10000 + i * 16, 16,
        {0x0e, static_cast<std::uint8_t>(0x80 | low), static_cast<std::uint8_t>(0x80 | high), 1});
  }
  const UnwindTable table = compiled(cfi);
  EXPECT_LE(table.rules.size(), 2'048U);
  EXPECT_TRUE(table.rules_truncated);
  EXPECT_EQ(table.find(0x10000 + 2'999 * 16).kind, OFFCPUD_UNWIND_INVALID);
}

TEST(UnwindTable, LetsOthersInBetween) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  for (std::uint64_t i = 0; i < 20'000; ++i) cfi.fde(cie, 0x10000 + i * 16, 16);
  int calls = 0;
  const auto table = compile_unwind_table(cfi.object(), {}, [&calls] { ++calls; });
  ASSERT_TRUE(table);
  EXPECT_GE(calls, 8);  // looked at, and compiled
  EXPECT_LE(calls, 100);
}

TEST(UnwindTable, HasNoPageWithoutFunctions) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.fde(cie, 0x10000, 0x10000);
  cfi.fde(cie, 0x900000, 0x10000);
  const UnwindTable table = compiled(cfi);
  EXPECT_EQ(table.pages.size(), 2U);
  EXPECT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.find(0x500000).kind, kNoFde);
}

TEST(UnwindTable, MergesNeighboursAcrossPadding) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  for (std::uint64_t i = 0; i < 10; ++i) cfi.fde(cie, 0x2000 + 32 * i, 20 + i);
  cfi.fde(cie, 0x3000, 32);
  const UnwindTable table = compiled(cfi);
  EXPECT_EQ(table.functions, 11U);
  EXPECT_EQ(table.rows.size(), 1 + 2 + 2U);  // the page, and each group with its end
  EXPECT_EQ(table.find(0x2fff).kind, kNoFde);
}

TEST(UnwindTable, LetsTheLaterOfOverlappingFunctionsBegin) {
  CfiBytes cfi;
  cfi.fde(cfi.cie({0x0c, 7, 24, 0x90, 1}), 0x2020, 0x20);
  cfi.fde(cfi.cie(), 0x2000, 0x1000);
  const UnwindTable table = compiled(cfi);
  EXPECT_EQ(table.find(0x201f).cfa_offset, 8);
  EXPECT_EQ(table.find(0x2020).cfa_offset, 24);
  EXPECT_EQ(table.find(0x2040).kind, kNoFde);
}

TEST(UnwindTable, StaysInExecutableSegments) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  cfi.fde(cie, 0xff0000, 0x7fffffffffff);
  cfi.fde(cie, 0x1000000, 0x100);
  cfi.fde(cie, 0x800, 0x100);
  const UnwindTable table = compiled(cfi);
  EXPECT_EQ(table.pages.size(), 1U);
  EXPECT_EQ(table.functions, 1U);
}

TEST(UnwindTable, RefusesMoreThanTheLimits) {
  CfiBytes cfi;
  cfi.fde(cfi.cie(), 0x10000, 0x40000, {0x41, 0x0e, 16, 0x41, 0x0e, 8});
  EXPECT_TRUE(compile_unwind_table(cfi.object(), {.rows = 8, .pages = 8}));
  EXPECT_FALSE(compile_unwind_table(cfi.object(), {.rows = 5, .pages = 8}));
  EXPECT_FALSE(compile_unwind_table(cfi.object(), {.rows = 8, .pages = 3}));
  const auto table = compile_unwind_table(cfi.object(), {.rows = 8, .pages = 8, .rules = 3});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->find(0x10000).kind, kRsp);
  EXPECT_EQ(table->find(0x10001).kind, OFFCPUD_UNWIND_INVALID);
}

// A file of a megabyte that asks for 10^10 instructions: many functions, two long CIEs in turn.
TEST(UnwindTable, RefusesMoreWorkThanTheSizeExplains) {
  CfiBytes cfi;
  const CfiBytes::Instructions nops(200'000, 0);
  const std::uint32_t cies[] = {cfi.cie(nops), cfi.cie(nops)};
  for (std::uint64_t i = 0; i < 20'000; ++i) cfi.fde(cies[i % 2], 0x1000 + 16 * i, 16);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(compile_unwind_table(cfi.object()));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(UnwindTable, RefusesMoreFunctionsThanTheLimit) {
  CfiBytes cfi;
  const auto cie = cfi.cie();
  for (std::uint64_t i = 0; i < 10; ++i) cfi.fde(cie, 0x2000 + 64 * i, 16);
  EXPECT_TRUE(compile_unwind_table(cfi.object(), {.functions = 10}));
  EXPECT_FALSE(compile_unwind_table(cfi.object(), {.functions = 9}));
}

// One expression of 300 KB, and 300,000 rows for each of which it holds: 10^11 bytes to read.
TEST(UnwindTable, ReadsALongExpressionOnlyAsFarAsItMayBeUnderstood) {
  CfiBytes cfi;
  CfiBytes::Instructions program = {0x0f, 0xe0, 0xa7, 0x12, 0x77, 0x08, 0x06};  // 300,000 bytes
  while (program.size() < 4 + 300'000) program.insert(program.end(), {0x23, 0x00});
  program.resize(4 + 300'000, 0x00);
  program.insert(program.end(), 300'000, 0x41);
  cfi.fde(cfi.cie(), 0x10000, 300'000, program);
  const auto start = std::chrono::steady_clock::now();
  const auto table = compile_unwind_table(cfi.object());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  ASSERT_TRUE(table);
  EXPECT_EQ(table->find(0x10001).kind, OFFCPUD_UNWIND_INVALID);
}

ElfObject own_object() {
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  auto object = read_elf_object(file.get());
  EXPECT_TRUE(object) << object.error().message();
  return std::move(*object);
}

void expect_wellformed(const UnwindTable& table) {
  std::uint32_t next = 0;
  for (const UnwindTable::Page& page : table.pages) {
    ASSERT_EQ(page.first, next);
    ASSERT_GT(page.count, 0U);
    ASSERT_EQ(table.rows[page.first].address, 0);
    for (std::uint32_t i = 1; i < page.count; ++i) {
      ASSERT_LT(table.rows[page.first + i - 1].address, table.rows[page.first + i].address);
    }
    next += page.count;
  }
  ASSERT_EQ(next, table.rows.size());
  for (const offcpud_unwind_row& row : table.rows) ASSERT_LT(row.rule, table.rules.size());
}

// Seeded, so that a failure can be repeated; meant for the suites with sanitizers.
TEST(UnwindTable, SurvivesAnyBytesInASection) {
  const ElfObject original = own_object();
  std::mt19937 random(20260920);
  for (int round = 0; round < 60; ++round) {
    ElfObject object = original;
    object.eh_frame.resize(std::min<std::size_t>(object.eh_frame.size(), 20'000));
    object.exact_size = round % 2 == 0;
    const std::size_t changes = 1 + random() % 200;
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = random() % object.eh_frame.size();
      object.eh_frame[at] = static_cast<std::uint8_t>(random() % 4 == 0 ? 0xff : random());
    }
    object.eh_frame.resize(object.eh_frame.size() - random() % 9);
    if (const auto table = compile_unwind_table(object)) expect_wellformed(*table);
  }
}

UniqueFd file_of(const std::vector<std::uint8_t>& bytes) {
  UniqueFd file(::memfd_create("elf", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  return file;
}

TEST(ElfObject, RefusesWhatIsNoProgram) {
  for (const char* path : {"/proc/self/status", "/dev/null", "/"}) {
    const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
    EXPECT_FALSE(read_elf_object(file.get())) << path;
  }
}

TEST(ElfObject, SurvivesAnyBytesInItsHeaders) {
  const UniqueFd whole(::open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC));
  std::vector<std::uint8_t> bytes(1 << 20);
  const ssize_t size = ::pread(whole.get(), bytes.data(), bytes.size(), 0);
  ASSERT_GT(size, 4096);
  bytes.resize(static_cast<std::size_t>(size));
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    auto changed = bytes;
    for (int i = 0; i < 4; ++i) {
      // The program headers, or the section headers at the end.
      const std::size_t at = round % 2 ? 16 + random() % 800 : changed.size() - 1 - random() % 1500;
      changed[at] = static_cast<std::uint8_t>(random() % 3 == 0 ? 0xff : random());
    }
    if (round % 5 == 0) changed.resize(random() % changed.size());
    const auto object = read_elf_object(file_of(changed).get());
    if (!object) continue;
    EXPECT_LE(object->eh_frame.size(), changed.size());
    if (const auto table = compile_unwind_table(*object)) expect_wellformed(*table);
  }
}

TEST(ElfObject, FindsTheSectionWithoutSectionHeaders) {
  const UniqueFd whole(::open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC));
  const auto with = read_elf_object(whole.get());
  ASSERT_TRUE(with);
  std::vector<std::uint8_t> bytes(1 << 20);
  bytes.resize(static_cast<std::size_t>(::pread(whole.get(), bytes.data(), bytes.size(), 0)));
  for (std::size_t i = 0x28; i < 0x30; ++i) bytes[i] = 0;  // e_shoff
  for (std::size_t i = 0x3c; i < 0x40; ++i) bytes[i] = 0;  // e_shnum, e_shstrndx
  const auto without = read_elf_object(file_of(bytes).get());
  ASSERT_TRUE(without) << without.error().message();
  EXPECT_FALSE(without->exact_size);
  EXPECT_EQ(without->eh_frame_address, with->eh_frame_address);
  const auto a = compile_unwind_table(*with);
  const auto b = compile_unwind_table(*without);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->functions, b->functions);
  EXPECT_EQ(a->rows.size(), b->rows.size());
}

}  // namespace
}  // namespace offcpud
