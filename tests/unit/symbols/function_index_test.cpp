// SPDX-License-Identifier: Apache-2.0
#include "symbols/function_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <utility>

namespace offcpud {
namespace {

const std::vector<AddressRange> kCode{{0x1000, 0x9000}};

std::string name_at(const FunctionIndex& index, std::uint64_t address) {
  const auto found = index.find(address);
  if (!found) return "-";
  return found->name.empty() ? "fn" + std::to_string(found->start) : std::string(found->name);
}

TEST(FunctionIndex, AnAddressOutsideOfEverySymbolIsNotTheNearestOne) {
  FunctionList list;
  list.add(0x2000, 0x10, "f", 1);
  list.add(0x2020, 1, "__nptl_death_event", 1);
  const FunctionIndex index(std::move(list), {}, kCode);
  EXPECT_EQ(name_at(index, 0x1fff), "-");
  EXPECT_EQ(name_at(index, 0x2000), "f");
  EXPECT_EQ(name_at(index, 0x200f), "f");
  EXPECT_EQ(name_at(index, 0x2010), "-");
  EXPECT_EQ(name_at(index, 0x2020), "__nptl_death_event");
  EXPECT_EQ(name_at(index, 0x2021), "-");
  EXPECT_EQ(name_at(index, 0), "-");
  EXPECT_EQ(name_at(index, std::numeric_limits<std::uint64_t>::max()), "-");
}

TEST(FunctionIndex, OfOverlappingSymbolsTheOneThatStartsLastCounts) {
  FunctionList list;
  list.add(0x2000, 0x100, "outer", 1);
  list.add(0x2040, 0x10, "inner", 1);
  list.add(0x20f0, 0x20, "late", 1);
  const FunctionIndex index(std::move(list), {}, kCode);
  EXPECT_EQ(name_at(index, 0x203f), "outer");
  EXPECT_EQ(name_at(index, 0x2040), "inner");
  EXPECT_EQ(name_at(index, 0x2050), "outer");
  EXPECT_EQ(name_at(index, 0x20f0), "late");
  EXPECT_EQ(name_at(index, 0x210f), "late");
  EXPECT_EQ(name_at(index, 0x2110), "-");
}

TEST(FunctionIndex, OfNamesForOneFunctionTheOneThatPeopleUseIsShown) {
  FunctionList list;
  list.add(0x2000, 0x10, "__GI_clock_nanosleep", 0);
  list.add(0x2000, 0x10, "__clock_nanosleep", 1);
  list.add(0x2000, 0x10, "clock_nanosleep", 1);
  list.add(0x3000, 0x10, "aa", 0);
  list.add(0x3000, 0x10, "_global", 1);
  list.add(0x3000, 1, "small", 1);
  const FunctionIndex index(std::move(list), {}, kCode);
  EXPECT_EQ(name_at(index, 0x2005), "clock_nanosleep");
  EXPECT_EQ(name_at(index, 0x3000), "_global");
}

TEST(FunctionIndex, ASymbolOfUnknownSizeReachesToTheNextOrToItsEnd) {
  FunctionList list;
  list.add(0x2000, 0, "first", 1);
  list.add(0x2010, 0x10, "sized", 1);
  list.add(0x2018, 0, "label", 1);  // inside of a sized one: only past its end
  list.add(0x3000, 0, "framed", 1);
  list.add(0x4000, 0, "before_frame", 1);
  list.add(0x8000, 0, "last", 1);
  const FunctionIndex index(std::move(list), {{0x3000, 0x3020}, {0x4010, 0x4020}}, kCode);
  EXPECT_EQ(name_at(index, 0x200f), "first");
  EXPECT_EQ(name_at(index, 0x2018), "sized");
  EXPECT_EQ(name_at(index, 0x301f), "framed");
  EXPECT_EQ(name_at(index, 0x3020), "-");
  EXPECT_EQ(name_at(index, 0x400f), "before_frame");
  EXPECT_EQ(name_at(index, 0x4010), "fn" + std::to_string(0x4010));
  EXPECT_EQ(name_at(index, 0x8fff), "last");
  EXPECT_EQ(name_at(index, 0x9000), "-");
}

TEST(FunctionIndex, AFrameNamesWhatNoSymbolDoes) {
  FunctionList list;
  list.add(0x2010, 0x10, "f", 1);
  const FunctionIndex index(std::move(list), {{0x2000, 0x2040}, {0x5000, 0x5010}}, kCode);
  EXPECT_EQ(name_at(index, 0x2000), "fn" + std::to_string(0x2000));
  EXPECT_EQ(name_at(index, 0x2010), "f");
  EXPECT_EQ(name_at(index, 0x2020), "fn" + std::to_string(0x2000));
  EXPECT_EQ(name_at(index, 0x2040), "-");
  EXPECT_EQ(name_at(index, 0x500f), "fn" + std::to_string(0x5000));
}

TEST(FunctionIndex, SurvivesNumbersThatMakeNoSense) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  FunctionList list;
  list.add(0x2000, kMax, "huge", 1);
  list.add(kMax, kMax, "end", 1);
  list.add(kMax - 1, 0, "nearly", 1);
  const FunctionIndex index(std::move(list), {{5, 4}, {0, kMax}, {kMax, 0}},
                            {{0, kMax}, {7, 3}, {0x10, 0x20}});
  EXPECT_EQ(name_at(index, 1), "fn0");
  (void)index.find(kMax);
  (void)index.find(0x2000);
}

TEST(FunctionIndex, KeepsANameOnceThatManyFunctionsShare) {
  FunctionList list;
  const std::string table = "_aaa" + std::string(100'000, 'a');
  std::ranges::copy(table, list.add_names(table.size()));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(list.add(0x2000 + 16 * i, 16, std::size_t{i % 7}, true));
  }
  const FunctionIndex index(std::move(list), {}, kCode);
  EXPECT_EQ(index.size(), 1000U);
  EXPECT_LT(index.bytes(), 1000 * 12 + 2 * NameTable::kMaxName);
  EXPECT_EQ(name_at(index, 0x2000), table.substr(0, NameTable::kMaxName));
  EXPECT_EQ(name_at(index, 0x2000 + 16 * 6), table.substr(6, NameTable::kMaxName));
}

TEST(FunctionList, TakesNoMoreThanItsLimits) {
  FunctionList list({.ranges = 2, .name_bytes = 20});
  EXPECT_TRUE(list.add(0x1000, 1, "first", true));
  const auto mark = list.mark();
  EXPECT_EQ(list.add_names(15), nullptr);
  EXPECT_TRUE(list.add(0x2000, 1, "second", true));
  EXPECT_FALSE(list.add(0x3000, 1, std::size_t{0}, true));
  list.forget_since(mark);
  EXPECT_TRUE(list.add(0x3000, 1, "third", true));
  const FunctionIndex index(std::move(list), {}, kCode);
  EXPECT_EQ(name_at(index, 0x1000), "first");
  EXPECT_EQ(name_at(index, 0x2000), "-");
  EXPECT_EQ(name_at(index, 0x3000), "third");
}

TEST(NameTable, KeepsNamesThatOverlapAndDropsTheOthers) {
  NameTable names;
  const std::string text("long_name\0unused\0other", 22);
  std::ranges::copy(text, names.grow(text.size()));
  const auto moved = names.keep_only({0, 5, 17});
  ASSERT_EQ(moved.size(), 3U);
  EXPECT_EQ(names.at(moved[0]), "long_name");
  EXPECT_EQ(names.at(moved[1]), "name");
  EXPECT_EQ(names.at(moved[2]), "other");
  EXPECT_EQ(names.size(), sizeof("long_name\0other"));
  names.keep_only({});
  EXPECT_EQ(names.size(), 0U);
}

// Against a search of everything, address by address.
TEST(FunctionIndex, AgreesWithASearchOfAllSymbols) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same ones each time
  const auto below = [&](std::uint32_t limit) { return random() % limit; };
  for (int round = 0; round < 200; ++round) {
    FunctionList list;
    struct Symbol {
      std::uint64_t start, size;
      std::string name;
    };
    std::vector<Symbol> symbols;
    std::vector<AddressRange> frames;
    for (unsigned i = 0; i < 1 + below(12); ++i) {
      const Symbol symbol{0x1000 + below(200) * 4 + i % 4, below(3) * (1 + below(60)),
                          "s" + std::to_string(i)};
      bool taken = false;
      for (const Symbol& other : symbols) taken |= other.start == symbol.start;
      if (taken) continue;
      symbols.push_back(symbol);
      list.add(symbol.start, symbol.size, symbol.name, 1);
    }
    const FunctionIndex index(std::move(list), frames, kCode);
    for (std::uint64_t address = 0x0ff0; address < 0x1500; ++address) {
      const Symbol* best = nullptr;
      const Symbol* before = nullptr;
      std::uint64_t last_start = 0;
      for (const Symbol& symbol : symbols) {
        if (symbol.start <= address) {
          last_start = std::max(last_start, symbol.start);
          if (symbol.size == 0 && (before == nullptr || symbol.start > before->start)) {
            before = &symbol;
          }
          if (address - symbol.start < symbol.size &&
              (best == nullptr || symbol.start > best->start)) {
            best = &symbol;
          }
        }
      }
      if (best == nullptr && before != nullptr && before->start == last_start) best = before;
      ASSERT_EQ(name_at(index, address), best == nullptr ? "-" : best->name)
          << round << ' ' << address;
    }
  }
}

}  // namespace
}  // namespace offcpud
