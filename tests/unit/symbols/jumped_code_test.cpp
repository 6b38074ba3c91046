// SPDX-License-Identifier: Apache-2.0
#include "symbols/jumped_code.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "base/unique_handle.h"
#include "symbols/elf_symbols.h"
#include "unit/symbols/symbol_files.h"

namespace offcpud {
namespace {

class JumpedCodeTest : public testing::Test {
 protected:
  static ElfSymbols read(const std::string& name) {
    const UniqueFd fd(::open(symbol_fixture(name).c_str(), O_RDONLY | O_CLOEXEC));
    auto symbols = ElfSymbols::read(fd.get());
    EXPECT_TRUE(symbols) << name;
    return symbols ? *std::move(symbols) : ElfSymbols();
  }

  // What the stripped library calls the function that has this symbol; "-": nothing.
  std::string name_of(const std::string& symbol) const {
    for (std::uint64_t address = 0; address < 0x10000; ++address) {
      const auto in_plain = plain_.functions().find(address);
      if (!in_plain || in_plain->name != symbol) continue;
      const auto found = stripped_.functions().find(address);
      if (!found) return "-";
      return found->name.empty() ? "unnamed" : std::string(found->name);
    }
    return "no such symbol";
  }

  const ElfSymbols plain_ = read("symbols_jumps"), stripped_ = read("symbols_jumps_stripped");
};

TEST_F(JumpedCodeTest, IsNamedByTheFunctionThatEndsInIt) {
  EXPECT_EQ(name_of("app_take"), "app_take");
  EXPECT_EQ(name_of("slow_take"), "app_take.tailcall") << "the shortest of three";
}

TEST_F(JumpedCodeTest, HasNoNameIfItIsCalledToo) {
  EXPECT_EQ(name_of("shared"), "unnamed");
  EXPECT_EQ(name_of("hidden"), "unnamed");
}

TEST_F(JumpedCodeTest, HasNoNameIfOtherCodeWithoutANameJumpsThere) {
  EXPECT_EQ(name_of("inner"), "unnamed");
  EXPECT_EQ(name_of("loop"), "unnamed") << "a jump of its own says nothing";
}

}  // namespace
}  // namespace offcpud
