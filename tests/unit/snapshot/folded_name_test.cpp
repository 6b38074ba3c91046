// SPDX-License-Identifier: Apache-2.0
#include "snapshot/folded_name.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text.h"
#include "support/snapshots.h"

namespace offcpud {
namespace {

TEST(FoldedName, KeepsOrdinaryNames) {
  for (const char* name :
       {"main", "read", "[jit]", "libc.so.6!fn_85e40", "a-b", "<T as U>::f{{closure}}",
        "std::map<int, long>::at(int const&)", "Größe", "日本"}) {
    EXPECT_EQ(folded_name(name), name);
  }
}

TEST(FoldedName, TakesAwayWhatBreaksALine) {
  const struct {
    std::string name;
    std::string cleaned;
  } cases[] = {{"a;b c 3", "a:b c_3"},
               {"GC Thread 3", "GC Thread_3"},
               {"v 1.5", "v_1.5"},
               {" 3", "_3"},
               {"ends ", "ends_"},
               {"line\nfeed 7", "line_feed_7"},
               {"\xff", "\xef\xbf\xbd"},
               {"nbsp\302\2405", "nbsp_5"},
               {"arabic \xd9\xa3", "arabic_\xd9\xa3"},
               {std::string("rtl\xe2\x80") + "\256gnp", "rtl_gnp"},
               {"", "[unknown]"},
               {"-", "_-"},
               {"--", "_--"},
               {";--;", ":--:"}};
  for (const auto& each : cases) EXPECT_EQ(folded_name(each.name), each.cleaned);
}

TEST(FoldedName, CutsLongNamesBetweenCharacters) {
  EXPECT_EQ(folded_name(std::string(1'024, 'x')), std::string(1'024, 'x'));
  EXPECT_EQ(folded_name(std::string(1'025, 'x')), std::string(1'021, 'x') + "...");
  EXPECT_EQ(folded_name(std::string(1'019, 'x') + "\xe2\x82\xac\xe2\x82\xac"),
            std::string(1'019, 'x') + "...");
  EXPECT_EQ(folded_name(std::string(1'020, 'x') + " yyyyyyy"), std::string(1'020, 'x') + "...");
}

TEST(FoldedName, OfAnythingIsAFrameAndStaysWhatItIs) {
  for (const std::string& name : test::hostile_names()) {
    const std::string cleaned = folded_name(name);
    EXPECT_FALSE(cleaned.empty());
    EXPECT_LE(cleaned.size(), kMostFoldedNameBytes);
    EXPECT_EQ(cleaned.find_first_of(";\n\r\t"), std::string::npos) << cleaned;
    EXPECT_EQ(cleaned, to_valid_utf8(cleaned));
    EXPECT_EQ(cleaned, folded_name(cleaned)) << "cleaned twice";
  }
}

}  // namespace
}  // namespace offcpud
