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
  EXPECT_EQ(change_text(-0.5), "-0.50");
  EXPECT_EQ(change_text(-0.0001), "< 0.01");
  EXPECT_EQ(change_text(0), "0");
}

TEST(AmountText, SharesAndFactors) {
  EXPECT_EQ(share_text(0.984), "98 %");
  EXPECT_EQ(share_text(0.01), "1.0 %");
  EXPECT_EQ(share_text(0.0002), "< 0.1 %");
  EXPECT_EQ(share_text(0), "0 %");
  EXPECT_EQ(factor_text(1, 22), "22x");
  EXPECT_EQ(factor_text(2, 1), "0.5x");
  EXPECT_EQ(factor_text(0.01, 5), "> 100x");
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
}

}  // namespace
}  // namespace offcpud
