// SPDX-License-Identifier: Apache-2.0
#include "symbols/kernel_symbols.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "support/fake_clock.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSymbols =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t do_futex\n"
    "ffffffff81000200 T schedule\n"
    "ffffffff81000300 D in_between\n"
    "ffffffff81000400 W weak_one\n"
    "ffffffff81000500 T _etext\n"
    "ffffffff81000600 D __stop_runtime_ptr_USER_PTR_MAX\n"
    "ffffffff81800000 T _sinittext\n"
    "ffffffff81800010 T start_kernel\n"
    "ffffffffc0000000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0000080 T nft_last\t[nf_tables]\n"
    "ffffffffc0900000 t bpf_prog_6deef7357e7b4530_on_switch\t[bpf]\n"
    "ffffffffc0a00000 t module_of_unknown_size\t[strange]\n";
constexpr const char* kModules = "nf_tables 4096 1 - Live 0xffffffffc0000000\n";

std::string name_at(const KernelSymbolTable& table, std::uint64_t address) {
  const auto found = table.find(address);
  if (!found) return "-";
  return std::string(found->name) +
         (found->module.empty() ? "" : " [" + std::string(found->module) + "]");
}

TEST(KernelSymbolTable, FunctionsReachToTheNextSymbolWithinTheirRange) {
  const auto table = KernelSymbolTable::parse(kSymbols, kModules);
  ASSERT_TRUE(table) << table.error().message();
  const std::map<std::uint64_t, std::string> expected{
      {0, "-"},
      {0xffffffff80ffffff, "-"},
      {0xffffffff81000000, "_stext"},
      {0xffffffff810001ff, "do_futex"},
      {0xffffffff81000200, "schedule"},
      {0xffffffff810002ff, "schedule"},
      {0xffffffff81000300, "-"},  // data
      {0xffffffff810004ff, "weak_one"},
      {0xffffffff81000500, "-"},  // the end of the code
      {0xffffffff81000700, "-"},
      {0xffffffff81800020, "-"},  // freed after the start
      {0xffffffffc0000010, "nft_do_chain [nf_tables]"},
      {0xffffffffc0000fff, "nft_last [nf_tables]"},
      {0xffffffffc0001000, "-"},  // the end of the module
      {0xffffffffc0900400, "bpf_prog_6deef7357e7b4530_on_switch [bpf]"},
      {0xffffffffc0910000, "-"},
      {0xffffffffc0a0ffff, "module_of_unknown_size [strange]"},
      {0xffffffffc0a10000, "-"},
      {0xffffffffffffffff, "-"}};
  for (const auto& [address, name] : expected) {
    EXPECT_EQ(name_at(*table, address), name) << std::hex << address;
  }
}

TEST(KernelSymbolTable, SaysWhatToDoWhenTheKernelHidesItsAddresses) {
  const auto table =
      KernelSymbolTable::parse("0000000000000000 T _stext\n0000000000000000 T schedule\n", "");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().kind(), ErrorKind::Permission);
  EXPECT_NE(table.error().message().find("CAP_SYSLOG"), std::string::npos);
  EXPECT_NE(table.error().message().find("kernel.kptr_restrict=0"), std::string::npos);
}

TEST(KernelSymbolTable, SaysWhatIsMissingWhenThereAreNoSymbols) {
  for (const char* text : {"", "\n\n", "not a list\n"}) {
    const auto table = KernelSymbolTable::parse(text, "");
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().kind(), ErrorKind::Unsupported);
  }
}

TEST(KernelSymbolTable, SkipsLinesThatItDoesNotUnderstand) {
  const auto table = KernelSymbolTable::parse(
      "x\n\n zz T a\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 TT b\n"
      "ffffffff81000100 T ok\nfffffffff81000100123 T c\nffffffff81000200 T cut",
      "nf_tables\nx y z 0x\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(name_at(*table, 0xffffffff81000150), "ok");
}

struct KernelSymbolsTest : testing::Test {
  KernelSymbols open_symbols() {
    tree.put({{"kallsyms", kSymbols}, {"modules", kModules}});
    auto symbols = KernelSymbols::open({.kallsyms = kallsyms.c_str(), .modules = modules.c_str()});
    EXPECT_TRUE(symbols);
    return *std::move(symbols);
  }
  void append(const std::string& line) const {
    std::ofstream(kallsyms, std::ios::app) << line << '\n';
  }

  TempTree tree{{"kallsyms"}, {"modules"}};
  std::string kallsyms = tree.root() / "kallsyms";
  std::string modules = tree.root() / "modules";
  FakeClock clock;
};

TEST_F(KernelSymbolsTest, ReadsNothingUntilItIsAsked) {
  KernelSymbols symbols = open_symbols();
  EXPECT_EQ(symbols.readings(), 0U);
  EXPECT_TRUE(symbols.find(0xffffffff81000210, clock.now()));
  EXPECT_TRUE(symbols.find(0xffffffff81000110, clock.now()));
  EXPECT_EQ(symbols.readings(), 1U);
}

TEST_F(KernelSymbolsTest, ReadsAgainForAnUnknownAddressButNotTooOften) {
  KernelSymbols symbols = open_symbols();
  constexpr std::uint64_t kNew = 0xffffffffc0b00010;
  EXPECT_FALSE(symbols.find(kNew, clock.now()));
  append("ffffffffc0b00000 t bpf_prog_new\t[bpf]");
  clock.advance(9s);
  EXPECT_FALSE(symbols.find(kNew, clock.now()));
  EXPECT_EQ(symbols.readings(), 1U);
  clock.advance(1s);
  ASSERT_TRUE(symbols.find(kNew, clock.now()));
  EXPECT_EQ(symbols.find(kNew, clock.now())->name, "bpf_prog_new");
  EXPECT_EQ(symbols.readings(), 2U);
}

TEST_F(KernelSymbolsTest, LosesPatienceWithAddressesThatStayUnknown) {
  KernelSymbols symbols = open_symbols();
  for (int second = 0; second < 24 * 3600; ++second) {
    EXPECT_FALSE(symbols.find(0xdead, clock.now()));
    clock.advance(1s);
  }
  EXPECT_LT(symbols.readings(), 24U * 3600 / 600 + 10);
}

TEST_F(KernelSymbolsTest, ReadsAgainAfterAChangeAtMostOnceASecond) {
  KernelSymbols symbols = open_symbols();
  EXPECT_TRUE(symbols.find(0xffffffff81000210, clock.now()));
  for (int i = 0; i < 100; ++i) {
    symbols.mark_changed();
    EXPECT_TRUE(symbols.find(0xffffffff81000210, clock.now()));
    clock.advance(100ms);
  }
  EXPECT_GE(symbols.readings(), 9U);
  EXPECT_LE(symbols.readings(), 11U);
}

TEST_F(KernelSymbolsTest, KeepsItsNamesWhenReadingAgainFails) {
  KernelSymbols symbols = open_symbols();
  EXPECT_TRUE(symbols.find(0xffffffff81000210, clock.now()));
  EXPECT_FALSE(symbols.failure());
  std::ofstream(kallsyms, std::ios::trunc) << "0000000000000000 T schedule\n";
  clock.advance(1h);
  symbols.mark_changed();
  EXPECT_TRUE(symbols.find(0xffffffff81000210, clock.now()));
  ASSERT_TRUE(symbols.failure());
  EXPECT_EQ(symbols.failure()->kind(), ErrorKind::Permission);
}

TEST_F(KernelSymbolsTest, IsAnErrorWithoutAList) {
  const auto symbols = KernelSymbols::open({.kallsyms = "/nowhere/kallsyms"});
  ASSERT_FALSE(symbols);
  EXPECT_EQ(symbols.error().message(), "open '/nowhere/kallsyms': No such file or directory");
}

// The running kernel, compared with a plain reading of the list.
TEST(KernelSymbols, AgreesWithTheListOfThisKernel) {
  std::map<std::uint64_t, std::set<std::string>> names;
  std::uint64_t stext = 0;
  std::uint64_t etext = 0;
  std::ifstream list("/proc/kallsyms");
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string address;
    std::string type;
    std::string name;
    if (!(fields >> address >> type >> name)) continue;
    const std::uint64_t value = std::stoull(address, nullptr, 16);
    if (name == "_stext") stext = value;
    if (name == "_etext") etext = value;
    names[value].insert(name);
  }
  if (stext == 0) GTEST_SKIP() << "the kernel hides its addresses";
  auto symbols = KernelSymbols::open({});
  ASSERT_TRUE(symbols);
  const SystemClock clock;
  std::mt19937_64 random(3);  // NOLINT(cert-msc51-cpp): the same ones each time
  std::uniform_int_distribution<std::uint64_t> anywhere(stext, etext - 1);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t address = anywhere(random);
    const auto& expected = std::prev(names.upper_bound(address))->second;
    const auto found = symbols->find(address, clock.now());
    ASSERT_TRUE(found) << std::hex << address << ' ' << *expected.begin();
    EXPECT_TRUE(expected.contains(std::string(found->name))) << std::hex << address;
  }
  EXPECT_FALSE(symbols->find(etext, clock.now()));
  EXPECT_EQ(symbols->readings(), 1U);
}

}  // namespace
}  // namespace offcpud
