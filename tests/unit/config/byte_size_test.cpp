// SPDX-License-Identifier: Apache-2.0
#include "config/byte_size.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(ByteSize, ReadsWholeNumbersWithAUnit) {
  const struct {
    const char* text;
    std::uint64_t bytes;
  } cases[] = {{"0B", 0},
               {"1B", 1},
               {"4096B", 4'096},
               {"512KiB", 524'288},
               {"256MiB", 1U << 28U},
               {"1GiB", 1U << 30U},
               {"2TiB", std::uint64_t{2} << 40U}};
  for (const auto& each : cases) {
    const auto bytes = parse_byte_size(each.text);
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(*bytes, each.bytes);
  }
}

TEST(ByteSize, SaysWhatIsWrong) {
  const struct {
    const char* text;
    const char* why;
  } cases[] = {{"", "\"\" is not a size"},
               {"x", "\"x\" is not a size"},
               {"-1MiB", "\"-1MiB\" is not a size"},
               {" 1MiB", "\" 1MiB\" is not a size"},
               {"10", "\"10\" has no unit (B, KiB, MiB, GiB, TiB)"},
               {"10MB", "\"10MB\" has an unknown unit \"MB\" (B, KiB, MiB, GiB, TiB)"},
               {"10 MiB", "\"10 MiB\" has an unknown unit \" MiB\" (B, KiB, MiB, GiB, TiB)"},
               {"1.5GiB", "\"1.5GiB\" is not a whole number"},
               {"16777216TiB", "\"16777216TiB\" is too large"},
               {"99999999999999999999B", "\"99999999999999999999B\" is too large"}};
  for (const auto& each : cases) {
    const auto bytes = parse_byte_size(each.text);
    ASSERT_FALSE(bytes) << each.text;
    EXPECT_EQ(bytes.error().message(), each.why);
  }
}

TEST(ByteSize, WritesWhatItReadsBack) {
  for (const std::uint64_t bytes : {0ULL, 1ULL, 1'023ULL, 1'024ULL, 1'536ULL, 1ULL << 28U, ~0ULL}) {
    const auto back = parse_byte_size(format_byte_size(bytes));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, bytes);
  }
  EXPECT_EQ(format_byte_size(1U << 28U), "256MiB");
  EXPECT_EQ(format_byte_size(1'536), "1536B");
}

}  // namespace
}  // namespace offcpud
