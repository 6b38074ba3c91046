// SPDX-License-Identifier: Apache-2.0
#include "elf/go_function_table.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "go_table_bytes.h"

namespace offcpud {
namespace {

GoTableBytes two_functions() {
  GoTableBytes bytes;
  bytes.functions = {{0x00, "runtime.goexit", {{0, 0x20}}},
                     {0x20, "main.(*T).wait", {{0, 4}, {200, 100}, {0, 1}, {-8, 1}}}};
  bytes.end = 0xa0;
  return bytes;
}

using Range = std::tuple<std::uint64_t, std::uint64_t, std::int32_t>;
std::vector<Range> depths_of(const GoFunctionTable& table, const GoFunction& function) {
  std::vector<Range> ranges;
  for (GoStackDepths depths(table, function); depths.next();) {
    ranges.emplace_back(depths.begin(), depths.end(), depths.depth());
  }
  return ranges;
}

TEST(GoFunctionTable, HasWhatTheLinkerWroteInEveryVersion) {
  for (const std::uint32_t magic :
       {GoTableBytes::kGo116, GoTableBytes::kGo118, GoTableBytes::kGo120}) {
    GoTableBytes written = two_functions();
    written.magic = magic;
    const auto bytes = written.bytes();
    const auto table = GoFunctionTable::open(bytes, {});
    ASSERT_TRUE(table) << std::hex << magic;
    ASSERT_EQ(table->size(), 2U);
    const auto first = table->function(0), second = table->function(1);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->begin, 0x1000U);
    EXPECT_EQ(first->end, 0x1020U);
    EXPECT_EQ(first->name, "runtime.goexit");
    EXPECT_EQ(second->end, 0x10a0U);
    EXPECT_EQ(second->name, "main.(*T).wait");
    EXPECT_EQ(depths_of(*table, *second), (std::vector<Range>{{0x1020, 0x1024, 0},
                                                              {0x1024, 0x1088, 200},
                                                              {0x1088, 0x1089, 0},
                                                              {0x1089, 0x108a, -8}}));
  }
}

TEST(GoFunctionTable, BelievesTheSectionOfCodeOnlyWhereTheProgramBeginsInGo) {
  GoTableBytes written = two_functions();
  written.code = 0;
  written.functions[1].name = "_rt0_amd64_linux";
  const auto bytes = written.bytes();
  const auto table = GoFunctionTable::open(bytes, {.text = 0x5000, .entry = 0x5020});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->function(0)->begin, 0x5000U);
  EXPECT_FALSE(GoFunctionTable::open(bytes, {.text = 0x5000, .entry = 0x5000}));
  EXPECT_FALSE(GoFunctionTable::open(bytes, {.text = 0x5000, .entry = 0x4000}));
}

TEST(GoFunctionTable, IsAbsentWhereSomethingElseIs) {
  EXPECT_FALSE(GoFunctionTable::open({}, {}));
  GoTableBytes written = two_functions();
  written.magic = 0xfffffffb;  // Go 1.2 to 1.15
  EXPECT_FALSE(GoFunctionTable::open(written.bytes(), {}));
  auto bytes = two_functions().bytes();
  bytes[6] = 4;  // the instructions of another machine
  EXPECT_FALSE(GoFunctionTable::open(bytes, {}));
  bytes = two_functions().bytes();
  bytes[15] = 0x7f;  // more functions than bytes
  EXPECT_FALSE(GoFunctionTable::open(bytes, {}));
}

// Whatever it says, asking it ends and stays within its memory.
void use(Bytes bytes) {
  const auto table = GoFunctionTable::open(bytes, {});
  if (!table) return;
  ASSERT_LE(table->size(), bytes.size());
  for (std::size_t i = 0; i < table->size(); ++i) {
    const auto function = table->function(i);
    if (!function) continue;
    EXPECT_LT(function->begin, function->end);
    EXPECT_LE(function->name.size(), bytes.size());
    EXPECT_LE(depths_of(*table, *function).size(), bytes.size());
  }
}

TEST(GoFunctionTable, MaySayAnything) {
  const auto whole = two_functions().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    use(std::vector<std::uint8_t>(whole.begin(), whole.begin() + static_cast<long>(size)));
  }
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = whole;
    for (int i = 0; i < 4; ++i) bytes[8 + random() % (bytes.size() - 8)] = std::uint8_t(random());
    use(bytes);
  }
}

}  // namespace
}  // namespace offcpud
