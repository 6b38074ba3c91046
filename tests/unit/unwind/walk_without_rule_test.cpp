// SPDX-License-Identifier: Apache-2.0
// How walk_remote_stack() goes on in code that no table describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_process.h"

namespace offcpud {
namespace {

using test::FakeProcess;
using test::in;
using test::kStack;
using testing::ElementsAre;

constexpr std::uint64_t kElsewhere = 0x7e0000000000;  // nothing is mapped there

// Function 1 has no rule, function 9 is the outermost.
struct WalkWithoutRuleTest : testing::Test {
  WalkWithoutRuleTest() { process.add_function(9, plain_rule(OFFCPUD_UNWIND_END)); }

  void put_code(std::uint64_t address, const std::vector<std::uint8_t>& code) {
    process.put(address, code.data(), code.size());
  }
  // The caller's rbp and the return address.
  void put_frame(std::uint64_t bp, std::uint64_t callers_bp, std::uint64_t return_address) {
    process.put_word(bp, callers_bp);
    process.put_word(bp + 8, return_address);
  }
  FakeProcess process;
};

TEST_F(WalkWithoutRuleTest, FollowsFramePointers) {
  put_frame(kStack + 0x40, kStack + 0x80, in(2));
  put_frame(kStack + 0x80, 0, in(9));
  const auto stack = process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40});
  EXPECT_THAT(stack.addresses, ElementsAre(in(1), in(2), in(9)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_ROOT);
}

TEST_F(WalkWithoutRuleTest, AFramePointerOfZeroIsTheRoot) {
  put_frame(kStack + 0x40, 0, in(2));
  const auto stack = process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40});
  EXPECT_THAT(stack.addresses, ElementsAre(in(1), in(2)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_ROOT);
}

// Code without frame pointers may have any number in rbp, 0 among them.
TEST_F(WalkWithoutRuleTest, TheInnermostFrameIsNoRootForAZeroInItsRegister) {
  EXPECT_EQ(process.walk({.ip = in(1), .sp = kStack}).end, OFFCPUD_UNWIND_END_NO_RULE);
  EXPECT_EQ(process.walk({.ip = kElsewhere, .sp = kStack}).end, OFFCPUD_UNWIND_END_NO_MAPPING);
  // Nor for one that happens to point to two words of which the second is 0.
  put_frame(kStack + 0x40, 5, 0);
  EXPECT_EQ(process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40}).end,
            OFFCPUD_UNWIND_END_NO_RULE);
}

// As rbp leads to it that pointed somewhere up the stack by chance.
TEST_F(WalkWithoutRuleTest, UnknownMemoryIsNoRoot) {
  put_frame(kStack + 0x40, 0, kElsewhere);
  const UserRegisters registers{.ip = in(1), .sp = kStack, .bp = kStack + 0x40};
  EXPECT_EQ(process.walk(registers).end, OFFCPUD_UNWIND_END_FP);
  put_frame(kStack + 0x40, kStack + 0x80, kElsewhere);
  put_frame(kStack + 0x80, 0, 0);
  const auto stack = process.walk(registers);
  EXPECT_THAT(stack.addresses, ElementsAre(in(1), kElsewhere));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_FP);
}

TEST_F(WalkWithoutRuleTest, BelievesOnlyFramePointersThatLeadUpTheStack) {
  put_frame(kStack - 0x40, 0, in(9));
  put_frame(kStack + 0x41, 0, in(9));
  for (const std::uint64_t bp : {kStack - 0x40, kStack + 0x41, kStack + 0x800}) {
    const auto stack = process.walk({.ip = in(1), .sp = kStack, .bp = bp});
    EXPECT_THAT(stack.addresses, ElementsAre(in(1))) << bp;
    EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_NO_RULE) << bp;
  }
}

TEST_F(WalkWithoutRuleTest, SaysWhenFramePointersWereFollowedAndLeadNowhere) {
  put_frame(kStack + 0x40, 7, in(2));
  const auto stack = process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40});
  EXPECT_THAT(stack.addresses, ElementsAre(in(1), in(2)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_FP);
}

TEST_F(WalkWithoutRuleTest, SaysWhenTheMemoryIsNotKnown) {
  const auto stack = process.walk({.ip = kElsewhere, .sp = kStack, .bp = 7});
  EXPECT_THAT(stack.addresses, ElementsAre(kElsewhere));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_NO_MAPPING);
  put_frame(kStack + 0x40, 0, in(9));  // of a JIT, perhaps
  EXPECT_THAT(process.walk({.ip = kElsewhere, .sp = kStack, .bp = kStack + 0x40}).addresses,
              ElementsAre(kElsewhere, in(9)));
}

constexpr std::uint8_t kSyscall[] = {0x0f, 0x05};

TEST_F(WalkWithoutRuleTest, KnowsStubsThatDoNothingButASystemCall) {
  put_code(in(1) - 2, {kSyscall[0], kSyscall[1]});
  process.put_word(kStack, in(2));
  put_frame(kStack + 0x40, 0, in(9));  // rbp is still that of the stub's caller
  const UserRegisters registers{.ip = in(1), .sp = kStack, .bp = kStack + 0x40};
  EXPECT_THAT(process.walk(registers).addresses, ElementsAre(in(1), in(2), in(9)));

  // And the stack pointer is where the stub's was, less the return address.
  UnwindRule by_sp = plain_rule(OFFCPUD_UNWIND_RSP);
  by_sp.cfa_offset = 16;
  process.add_function(2, by_sp);
  process.put_word(kStack + 16, in(9, 0x70));
  EXPECT_THAT(process.walk(registers).addresses, ElementsAre(in(1), in(2), in(9, 0x70)));
}

TEST_F(WalkWithoutRuleTest, ASystemCallInTheMiddleOfAFunctionIsNoStub) {
  put_code(in(1) - 2, {kSyscall[0], kSyscall[1]});
  process.put_word(kStack, kElsewhere);  // no return address: nothing is mapped there
  put_frame(kStack + 0x40, 0, in(9));
  EXPECT_THAT(process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40}).addresses,
              ElementsAre(in(1), in(9)));
}

TEST_F(WalkWithoutRuleTest, CodeWithoutASystemCallIsNoStub) {
  put_code(in(1) - 2, {0x90, 0x90});
  process.put_word(kStack, in(2));
  put_frame(kStack + 0x40, 0, in(9));
  EXPECT_THAT(process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40}).addresses,
              ElementsAre(in(1), in(9)));
}

// Behind a call the bytes may look like a system call.
TEST_F(WalkWithoutRuleTest, AStubIsTheInnermostFrame) {
  put_frame(kStack + 0x40, kStack + 0x80, in(2));
  put_code(in(2) - 2, {kSyscall[0], kSyscall[1]});
  process.put_word(kStack + 0x50, in(3));
  put_frame(kStack + 0x80, 0, in(9));
  EXPECT_THAT(process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40}).addresses,
              ElementsAre(in(1), in(2), in(9)));
}

// mov $15, %rax or mov $15, %eax; then syscall. Go and musl return from signals so.
TEST_F(WalkWithoutRuleTest, KnowsTheReturnFromASignalByItsCode) {
  const std::vector<std::uint8_t> codes[] = {
      {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05},
      {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x90},
  };
  UnwindRule by_sp = plain_rule(OFFCPUD_UNWIND_RSP);
  by_sp.cfa_offset = 8;
  process.add_function(8, by_sp);
  process.put_word(kStack + 0x800, in(9));
  const std::uint64_t registers[] = {0, 0, 0, 0, 0, kStack + 0x800, in(8)};
  process.put(kStack + 0x50 + 120, registers, sizeof(registers));
  for (std::uint64_t i = 0; i < 2; ++i) {
    const std::uint64_t restorer = in(3 + i);
    put_code(restorer, codes[i]);
    put_frame(kStack + 0x40, kStack + 0x900, restorer);
    EXPECT_THAT(process.walk({.ip = in(1), .sp = kStack, .bp = kStack + 0x40}).addresses,
                ElementsAre(in(1), restorer, in(8), in(9)))
        << i;
  }
}

}  // namespace
}  // namespace offcpud
