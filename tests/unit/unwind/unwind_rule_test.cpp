// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_rule.h"

#include <gtest/gtest.h>

#include <vector>

#include "libdw_oracle.h"
#include "unit/elf/cfi_bytes.h"
#include "unwind/unwind_table.h"

namespace offcpud {
namespace {

using Instructions = CfiBytes::Instructions;

// The rule of a function with these instructions, in its last byte.
UnwindRule rule_after(const Instructions& instructions, const char* augmentation = "zR") {
  CfiBytes cfi;
  cfi.fde(cfi.cie(CfiBytes::usual(), augmentation), 0x1000, 0x100, instructions);
  const auto table = compile_unwind_table(cfi.object());
  EXPECT_TRUE(table) << table.error().message();
  return table->find(0x10ff);
}

#define EXPECT_RULE(instructions, ...)                                                          \
  do {                                                                                          \
    const UnwindRule got = rule_after instructions;                                             \
    const UnwindRule want = __VA_ARGS__;                                                        \
    EXPECT_TRUE(UnwindRuleEqual()(got, want)) << to_string(got) << ", not " << to_string(want); \
  } while (false)

constexpr __u8 kAtCfa = OFFCPUD_UNWIND_RBP_AT_CFA;

TEST(UnwindRule, FollowsPushesAndFramePointers) {
  EXPECT_RULE(({}), {.kind = OFFCPUD_UNWIND_RSP, .cfa_offset = 8});
  EXPECT_RULE(({0x41, 0x0e, 16, 0x86, 2}),  // push rbp
              {.kind = OFFCPUD_UNWIND_RSP, .rbp = kAtCfa, .cfa_offset = 16, .rbp_offset = -16});
  EXPECT_RULE(({0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6}),  // mov rsp, rbp
              {.kind = OFFCPUD_UNWIND_RBP, .rbp = kAtCfa, .cfa_offset = 16, .rbp_offset = -16});
  EXPECT_RULE(({0x41, 0x0e, 16, 0x86, 2, 0x43, 0xc6}),  // rbp restored as the CIE has it
              {.kind = OFFCPUD_UNWIND_RSP, .cfa_offset = 16});
}

TEST(UnwindRule, GoesBackToRememberedStates) {
  EXPECT_RULE(({0x41, 0x0e, 16, 0x0a, 0x41, 0x0e, 64, 0x41, 0x0b}),
              {.kind = OFFCPUD_UNWIND_RSP, .cfa_offset = 16});
}

TEST(UnwindRule, KnowsThePltOfEveryLinker) {
  EXPECT_RULE(({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}),
              {.kind = OFFCPUD_UNWIND_PLT, .cfa_offset = 11});
  EXPECT_RULE(({0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22}),
              {.kind = OFFCPUD_UNWIND_PLT, .cfa_offset = 10});
  EXPECT_RULE(({0x0f, 11, 0x77, 8, 0x80, 0, 0x3e, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}),
              plain_rule(OFFCPUD_UNWIND_INVALID));
}

TEST(UnwindRule, ReadsTheCfaFromTheStack) {
  EXPECT_RULE(({0x0f, 3, 0x76, 0x78, 0x06}),  // *(rbp - 8), of a realigned stack
              {.kind = OFFCPUD_UNWIND_AT_RBP, .cfa_offset = -8});
  EXPECT_RULE(({0x0f, 7, 0x77, 0xa8, 0x01, 0x06, 0x23, 8, 0x96}),  // ends in DW_OP_nop
              plain_rule(OFFCPUD_UNWIND_INVALID));
  EXPECT_RULE(({0x0f, 6, 0x77, 0xa8, 0x01, 0x06, 0x23, 8}),
              {.kind = OFFCPUD_UNWIND_AT_RSP, .cfa_offset = 168, .addend = 8});
  EXPECT_RULE(({0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0}),  // and rbp at *rbp
              {.kind = OFFCPUD_UNWIND_AT_RBP, .rbp = OFFCPUD_UNWIND_RBP_AT_RBP, .cfa_offset = -8});
}

TEST(UnwindRule, KnowsTheKernelsSignalFrame) {
  const Instructions cfa_at_saved_rsp = {0x0f, 4, 0x77, 0xa0, 0x01, 0x06};
  EXPECT_RULE((cfa_at_saved_rsp, "zRS"), plain_rule(OFFCPUD_UNWIND_SIGNAL));
  EXPECT_RULE(({}, "zRS"), plain_rule(OFFCPUD_UNWIND_INVALID));
}

TEST(UnwindRule, EndsWhereTheReturnAddressIsUndefined) {
  EXPECT_RULE(({0x07, 16}), plain_rule(OFFCPUD_UNWIND_END));
}

TEST(UnwindRule, FindsTheReturnAddressOfVforkInRdi) {
  EXPECT_RULE(({0x41, 0x0e, 0, 0x09, 16, 5}), {.kind = OFFCPUD_UNWIND_RDI});
  EXPECT_RULE(({0x41, 0x0e, 0, 0x09, 16, 3}), plain_rule(OFFCPUD_UNWIND_INVALID));
}

TEST(UnwindRule, TellsWhenRbpIsLost) {
  EXPECT_RULE(({0x07, 6}),
              {.kind = OFFCPUD_UNWIND_RSP, .rbp = OFFCPUD_UNWIND_RBP_LOST, .cfa_offset = 8});
}

TEST(UnwindRule, IsInvalidWhereTheKernelCouldNotFollow) {
  EXPECT_RULE(({0x0d, 10}), plain_rule(OFFCPUD_UNWIND_INVALID));  // CFA in r10
  EXPECT_RULE(({0x90, 2}), plain_rule(OFFCPUD_UNWIND_INVALID));   // RA elsewhere
  EXPECT_RULE(({0x08, 16}), plain_rule(OFFCPUD_UNWIND_INVALID));  // RA unchanged
  EXPECT_RULE(({0x87, 2}), plain_rule(OFFCPUD_UNWIND_INVALID));   // rsp saved
  EXPECT_RULE(({0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f}), plain_rule(OFFCPUD_UNWIND_INVALID));
}

TEST(UnwindRule, IsInvalidFromABrokenInstructionOn) {
  const std::vector<Instructions> broken = {
      {0x3f},                                // no such instruction
      {0x0f, 200, 1},                        // a block that is longer than the record
      {0x0b},                                // nothing was remembered
      {0x0f, 1, 0x77, 0x0e, 8},              // an offset without a register
      {0x0c, 0x80},                          // cut off
      Instructions(20, 0x0a),                // more remembered than anybody needs
      {0x45, 0x01, 1, 0, 0, 0, 0, 0, 0, 0},  // back to address 1
  };
  for (const Instructions& instructions : broken) {
    EXPECT_RULE((instructions), plain_rule(OFFCPUD_UNWIND_INVALID));
  }
}

TEST(UnwindRule, IsInvalidWhereACieRestoresWhatItWouldDefine) {
  CfiBytes cfi;
  cfi.fde(cfi.cie({0x0c, 7, 8, 0x90, 1, 0xc6}), 0x1000, 0x100);
  const auto table = compile_unwind_table(cfi.object());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->find(0x1000).kind, OFFCPUD_UNWIND_INVALID);
  EXPECT_EQ(table->broken, 1U);
}

}  // namespace
}  // namespace offcpud
