// SPDX-License-Identifier: Apache-2.0
#include "symbols/function_index.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

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
  const FunctionIndex index(list, {}, kCode);
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
  const FunctionIndex index(list, {}, kCode);
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
  const FunctionIndex index(list, {}, kCode);
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
  const FunctionIndex index(list, {{0x3000, 0x3020}, {0x4010, 0x4020}}, kCode);
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
  const FunctionIndex index(list, {{0x2000, 0x2040}, {0x5000, 0x5010}}, kCode);
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
  const FunctionIndex index(list, {{5, 4}, {0, kMax}, {kMax, 0}},
                            {{0, kMax}, {7, 3}, {0x10, 0x20}});
  EXPECT_EQ(name_at(index, 1), "fn0");
  (void)index.find(kMax);
  (void)index.find(0x2000);
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
    const FunctionIndex index(list, frames, kCode);
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
