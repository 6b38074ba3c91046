// SPDX-License-Identifier: Apache-2.0
#include "base/amount_text.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(AmountText, ThreadsHaveTwoDigitsBelowTenAndNoneAfterThePointAbove) {
  EXPECT_EQ(threads_text(0), "0");
  EXPECT_EQ(threads_text(0.0004), "< 0.01");
  EXPECT_EQ(threads_text(0.454), "0.45");
  EXPECT_EQ(threads_text(8.14), "8.1");
  EXPECT_EQ(threads_text(9.96), "10");
  EXPECT_EQ(threads_text(31.2), "31");
  EXPECT_EQ(threads_text(-3), "0");
}

TEST(AmountText, AChangeHasASignUnlessItRoundsToNothing) {
  EXPECT_EQ(change_text(7.88), "+7.9");
  EXPECT_EQ(change_text(-0.5), "−0.50");
  EXPECT_EQ(change_text(-0.0001), "< 0.01");
  EXPECT_EQ(change_text(0), "0");
}

TEST(AmountText, SharesAndFactors) {
  EXPECT_EQ(share_text(0.984), "98 %");
  EXPECT_EQ(share_text(0.01), "1.0 %");
  EXPECT_EQ(share_text(0.0002), "< 0.1 %");
  EXPECT_EQ(share_text(0), "0 %");
  EXPECT_EQ(factor_text(1, 22), "22×");
  EXPECT_EQ(factor_text(2, 1), "0.5×");
  EXPECT_EQ(factor_text(0.01, 5), "> 100×");
  EXPECT_EQ(factor_text(5, 0.01), "< 0.1×");
}

TEST(AmountText, CountsHaveACommaAtThousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(9'958), "9,958");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(counted(1, "cgroup"), "1 cgroup");
  EXPECT_EQ(counted(2'000, "cgroup"), "2,000 cgroups");
  EXPECT_EQ(counted(0, "cgroup"), "0 cgroups");
  EXPECT_EQ(counted(2, "process", "processes"), "2 processes");
}

TEST(AmountText, BytesHaveThreeDigits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(999.7), "1.00 kB");
  EXPECT_EQ(bytes_text(96e6), "96.0 MB");
  EXPECT_EQ(bytes_text(999.7e6), "1.00 GB");
  EXPECT_EQ(bytes_text(123.4e9), "123 GB");
  EXPECT_EQ(bytes_text(5e18), "5000000 TB");
}

TEST(AmountText, BytesOfASecondHaveDecimalUnits) {
  EXPECT_EQ(byte_rate_text(0), "0 B/s");
  EXPECT_EQ(byte_rate_text(-1), "0 B/s");
  EXPECT_EQ(byte_rate_text(812), "812 B/s");
  EXPECT_EQ(byte_rate_text(2'440), "2.4 kB/s");
  EXPECT_EQ(byte_rate_text(85e6), "85 MB/s");
  EXPECT_EQ(byte_rate_text(999'600), "1.0 MB/s");
  EXPECT_EQ(byte_rate_text(3.2e12), "3200 GB/s");
}

TEST(AmountText, ColumnsCountCharacters) {
  EXPECT_EQ(left_aligned("\xc3\xa4", 3), "\xc3\xa4  ");
  EXPECT_EQ(right_aligned("ab", 4), "  ab");
  EXPECT_EQ(right_aligned("abcde", 4), "abcde");
  EXPECT_EQ(cut("abcdefgh", 6), "abc...");
  EXPECT_EQ(cut("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "\xc3\xa4...");
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut_front("abcdefgh", 6), "...fgh");
  EXPECT_EQ(cut_front("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 4), "...\xc3\xa4");
  EXPECT_EQ(cut_front("abc", 3), "abc");
}

}  // namespace
}  // namespace offcpud
