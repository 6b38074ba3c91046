// SPDX-License-Identifier: Apache-2.0
#include "python/python_lines.h"

#include <gtest/gtest.h>

#include <string_view>

#include "unit/python/python_line_samples.h"

namespace offcpud {
namespace {

using namespace std::string_view_literals;
using testing_python::LineSample;

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(PythonLines, AreThoseThatEachVersionReads) {
  for (const LineSample& sample : testing_python::line_samples()) {
    std::int64_t offset = 0;
    for (const auto& [count, line] : sample.lines) {
      for (std::size_t i = 0; i < count; ++i, offset += 2) {
        EXPECT_EQ(python_line(sample.minor, bytes_of(sample.table), sample.first_line, offset),
                  line)
            << "3." << sample.minor << " at " << offset;
      }
    }
    EXPECT_GT(offset, 60);
  }
}

TEST(PythonLines, CodeThatHasNotBegunIsInItsFirstEntry) {
  EXPECT_EQ(python_line(8, bytes_of("\x02\x01"sv), 7, -1), 7);
  EXPECT_EQ(python_line(10, bytes_of("\x02\x01"sv), 7, -2), 8);
  EXPECT_EQ(python_line(12, bytes_of("\x80\x00\xd8\x08\x09"sv), 7, -2), 7);
}

TEST(PythonLines, BehindTheTableThereIsNone) {
  EXPECT_EQ(python_line(8, bytes_of("\x02\x01"sv), 7, 1000), 8);  // the last entry has no end
  EXPECT_EQ(python_line(10, bytes_of("\x02\x01"sv), 7, 1000), 0);
  EXPECT_EQ(python_line(11, bytes_of("\x80\x00"sv), 7, 1000), 0);
  EXPECT_EQ(python_line(8, {}, 7, 0), 7);
  EXPECT_EQ(python_line(10, {}, 7, 0), 0);
  EXPECT_EQ(python_line(14, {}, 7, 0), 0);
}

TEST(PythonLines, WhatIsNoLineIsNone) {
  EXPECT_EQ(python_line(8, bytes_of("\x00\x80\x00\x80"sv), 7, 100), 0);  // before the first line
  EXPECT_EQ(python_line(13, bytes_of("\xe8"sv), 7, 0), 0);               // its number is missing
  EXPECT_EQ(python_line(13, bytes_of("\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f"sv), 7, 0), 0);
  EXPECT_EQ(python_line(13, bytes_of("\xf8"sv), 7, 0), 0);
}

}  // namespace
}  // namespace offcpud
