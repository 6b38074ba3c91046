// SPDX-License-Identifier: Apache-2.0
#include "sampler/jit_table.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

constexpr std::uint64_t kBegin = 0x7f0000000000;

TEST(JitTable, FunctionsHaveTheirFramesAndWhatIsBetweenHasNone) {
  JitCode code;
  code.ranges = {{.begin = kBegin, .end = kBegin + 0x40000}};
  code.functions = {
      {.begin = kBegin - 0x100, .end = kBegin - 0x80, .frame_size = 8, .name = {}},
      {.begin = kBegin + 0x100, .end = kBegin + 0x200, .frame_size = 48, .name = {}},
      {.begin = kBegin + 0x200, .end = kBegin + 0x300, .frame_size = 80, .name = {}},
      {.begin = kBegin + 0x400, .end = kBegin + 0x500, .frame_size = 0, .name = {}},
      {.begin = kBegin + 0x20000, .end = kBegin + 0x20100, .frame_size = 16, .name = {}}};
  const UnwindTable table = unwind_table_of(code, code.ranges[0]);
  EXPECT_EQ(table.find(0x50).kind, OFFCPUD_UNWIND_NO_FDE);
  const UnwindRule& rule = table.find(0x1ff);
  EXPECT_EQ(rule.kind, OFFCPUD_UNWIND_RSP);
  EXPECT_EQ(rule.cfa_offset, 48);
  EXPECT_EQ(rule.rbp, OFFCPUD_UNWIND_RBP_AT_CFA);
  EXPECT_EQ(rule.rbp_offset, -16);
  EXPECT_EQ(table.find(0x200).cfa_offset, 80);
  EXPECT_EQ(table.find(0x300).kind, OFFCPUD_UNWIND_NO_FDE);
  EXPECT_EQ(table.find(0x450).kind, OFFCPUD_UNWIND_NO_FDE);
  EXPECT_EQ(table.find(0x20000).cfa_offset, 16);
  EXPECT_EQ(table.find(0x20100).kind, OFFCPUD_UNWIND_NO_FDE);
}

}  // namespace
}  // namespace offcpud
