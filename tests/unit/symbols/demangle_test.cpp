// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/text.h"

namespace offcpud {
namespace {

TEST(Demangle, NamesFunctionsOfCxxWithoutTheirParameters) {
  EXPECT_EQ(demangle("_ZNSt6thread4joinEv"), "std::thread::join");
  EXPECT_EQ(demangle("_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"),
            "std::condition_variable::wait");
  EXPECT_EQ(demangle("_ZN3app4PoolISt6vectorIiSaIiEEE4waitIlEEvT_"),
            "app::Pool<std::vector<int, std::allocator<int> > >::wait<long>");
  EXPECT_EQ(demangle("_ZN12_GLOBAL__N_13runEv"), "(anonymous namespace)::run");
  EXPECT_EQ(demangle("_ZN3app3runEv.isra.0"), "app::run");
}

TEST(Demangle, NamesFunctionsOfRustWithoutTheirHash) {
  EXPECT_EQ(demangle("_ZN3std6thread5sleep17h0123456789abcdefE"), "std::thread::sleep");
  EXPECT_EQ(demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
                     "3bar17h930b740aa94f1d3aE"),
            "<Test + 'static as foo::Bar<Test>>::bar");
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangle("_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate"),
            "<std::path::PathBuf>::new");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name : {"main", "_start", "__futex_abstimed_wait_common", "_Z", "_R", "_", "",
                           "_ZN", "_Znot a name", "Z3foov", "java.lang.Object::wait"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

// pair<pair<...>, pair<...>>: every level doubles the text, so 60 of them are beyond any memory.
TEST(Demangle, StopsWhereANameWouldGrowWithoutEnd) {
  std::string type = "i";
  std::string hostile = "_Z1fISt4pairIiiE";
  for (int level = 0; level < 60; ++level) {
    const auto ref = [](int n) {
      if (n == 0) return std::string("S_");
      constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
      const auto digit = [&](int d) { return kDigits[static_cast<std::size_t>(d)]; };
      const int index = n - 1;
      std::string text = "S";
      if (index >= 36) text += digit(index / 36);
      text += digit(index % 36);
      return text + "_";
    };
    // S_ is std::pair itself is not substitutable; each pair<> is the next one.
    hostile += "St4pairI" + ref(level) + ref(level) + "E";
  }
  hostile += "EvT_";
  const auto start = std::chrono::steady_clock::now();
  const std::string name = demangle(hostile);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_LE(name.size(), kMaxShownName);
  EXPECT_TRUE(name.ends_with("\u2026")) << name;
}

TEST(Demangle, SurvivesDeepNesting) {
  for (const std::size_t depth : {100U, 1000U, 4000U, 100000U}) {
    EXPECT_LE(demangle("_Z1f" + std::string(depth, 'P') + "i").size(), kMaxShownName);
    EXPECT_LE(demangle("_RI" + std::string(depth, 'R') + "u").size(), kMaxShownName);
    EXPECT_LE(demangle("_RNvC1a" + std::string(depth, 'T') + "E").size(), kMaxShownName);
  }
}

TEST(Demangle, EveryCutAndEveryChangedByteOfANameIsSafe) {
  for (const std::string name :
       {"_ZN3app4PoolISt6vectorIiSaIiEEE4waitIlEEvT_",
        "_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3newCs15kBYyAo9fc_7mycrate"}) {
    for (std::size_t i = 0; i < name.size(); ++i) {
      EXPECT_LE(demangle(name.substr(0, i)).size(), kMaxShownName);
      for (int byte = 1; byte < 256; ++byte) {
        std::string changed = name;
        changed[i] = static_cast<char>(byte);
        const std::string shown = demangle(changed);
        EXPECT_EQ(to_valid_utf8(shown), shown);
      }
    }
  }
}

// An identifier of no bytes, for which libiberty passes a null pointer; AddressSanitizer's suite
// sees what becomes of it.
TEST(Demangle, TakesIdentifiersWithoutCharacters) {
  EXPECT_LE(demangle("_RNqCs4fqI2P2rA04_05utf8_ide").size(), kMaxShownName);
  EXPECT_LE(demangle("_RNvC1a0").size(), kMaxShownName);
}

TEST(ShownName, CutsBetweenCharactersAndReplacesControls) {
  EXPECT_EQ(shown_name("a\nb\x7f\x01"), "a?b??");
  EXPECT_EQ(shown_name("\xff"), "\ufffd");
  EXPECT_EQ(shown_name(std::string(kMaxShownName, 'x')), std::string(kMaxShownName, 'x'));
  std::string euros;
  for (int i = 0; i < 1000; ++i) euros += "\u20ac";
  const std::string cut = shown_name(euros);
  EXPECT_LE(cut.size(), kMaxShownName);
  EXPECT_GT(cut.size(), kMaxShownName - 8);
  EXPECT_EQ(to_valid_utf8(cut), cut);
  EXPECT_TRUE(cut.ends_with("\u20ac\u2026"));
}

}  // namespace
}  // namespace offcpud
