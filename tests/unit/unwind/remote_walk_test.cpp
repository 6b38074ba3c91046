// SPDX-License-Identifier: Apache-2.0
#include "unwind/remote_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_process.h"

namespace offcpud {
namespace {

using test::FakeProcess;
using test::in;
using test::kStack;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

UnwindRule by_sp(std::int32_t offset) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RSP);
  rule.cfa_offset = offset;
  return rule;
}

// main() is function 9, the outermost frame; the others are without rules until a test adds them.
struct RemoteWalkTest : testing::Test {
  RemoteWalkTest() { process.add_function(9, plain_rule(OFFCPUD_UNWIND_END)); }

  // In function 1, with `rule`.
  RemoteStack walk(const UnwindRule& rule, UserRegisters registers = {.sp = kStack}) {
    process.add_function(1, rule);
    if (registers.ip == 0) registers.ip = in(1, 0x50);
    return process.walk(registers);
  }
  void expect_main(const RemoteStack& stack, std::uint64_t ip = in(1, 0x50)) {
    EXPECT_THAT(stack.addresses, ElementsAre(ip, in(9, 0x50)));
    EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_ROOT);
  }
  FakeProcess process;
};

TEST_F(RemoteWalkTest, FollowsTheStackPointer) {
  process.put_word(kStack + 24, in(9));
  expect_main(walk(by_sp(32)));
}

TEST_F(RemoteWalkTest, TheCallersStackPointerIsTheCfa) {
  process.add_function(2, by_sp(16));
  process.put_word(kStack + 8, in(2));
  process.put_word(kStack + 16 + 8, in(9));
  EXPECT_THAT(walk(by_sp(16)).addresses, ElementsAre(in(1), in(2), in(9)));
}

TEST_F(RemoteWalkTest, FollowsTheFramePointerThatARuleNames) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RBP);
  rule.cfa_offset = 16;
  rule.rbp = OFFCPUD_UNWIND_RBP_AT_CFA;
  rule.rbp_offset = -16;
  process.add_function(2, rule);
  process.put_word(kStack + 0x100, kStack + 0x200);  // the caller's
  process.put_word(kStack + 0x108, in(2));
  process.put_word(kStack + 0x200, 0);
  process.put_word(kStack + 0x208, in(9));
  const auto stack = walk(rule, {.ip = in(1), .sp = kStack, .bp = kStack + 0x100});
  EXPECT_THAT(stack.addresses, ElementsAre(in(1), in(2), in(9)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_ROOT);
}

// A slot of the PLT pushes in the middle of its 16 bytes.
TEST_F(RemoteWalkTest, FollowsTheSlotsOfThePlt) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_PLT);
  rule.cfa_offset = 11;
  process.put_word(kStack, in(9));
  process.put_word(kStack + 8, in(9, 0x70));
  expect_main(walk(rule, {.ip = in(1, 0x5a), .sp = kStack}), in(1, 0x5a));
  EXPECT_THAT(walk(rule, {.ip = in(1, 0x5b), .sp = kStack}).addresses,
              ElementsAre(in(1, 0x5b), in(9, 0x70)));
}

TEST_F(RemoteWalkTest, FollowsACfaThatIsKeptOnTheStack) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_AT_RSP);
  rule.cfa_offset = 24;
  rule.addend = 8;
  process.put_word(kStack + 24, kStack + 0x300);
  process.put_word(kStack + 0x300, in(9));  // 8 below the CFA
  expect_main(walk(rule));
}

// As in functions that align their stack: the CFA below rbp, and rbp where it points.
TEST_F(RemoteWalkTest, FollowsACfaThatIsKeptAtTheFramePointer) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_AT_RBP);
  rule.cfa_offset = -8;
  rule.rbp = OFFCPUD_UNWIND_RBP_AT_RBP;
  rule.rbp_offset = 0;
  UnwindRule next = plain_rule(OFFCPUD_UNWIND_RBP);
  next.cfa_offset = 16;
  process.add_function(2, next);
  const std::uint64_t bp = kStack + 0x100;
  process.put_word(bp - 8, kStack + 0x180);
  process.put_word(bp, kStack + 0x200);
  process.put_word(kStack + 0x180 - 8, in(2));
  process.put_word(kStack + 0x208, in(9));
  EXPECT_THAT(walk(rule, {.ip = in(1), .sp = kStack, .bp = bp}).addresses,
              ElementsAre(in(1), in(2), in(9)));
}

// struct rt_sigframe behind its return address: a ucontext of 40 bytes, then the sigcontext, in
// which r8 to r15, rdi and rsi come before rbp.
void put_signal_frame(FakeProcess& process, std::uint64_t at, std::uint64_t bp, std::uint64_t sp,
                      std::uint64_t ip) {
  const std::uint64_t registers[] = {bp, 1, 2, 3, 4, sp, ip};
  process.put(at + 40 + 80, registers, sizeof(registers));
}

TEST_F(RemoteWalkTest, GoesOnWhereASignalInterrupted) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RBP);
  rule.cfa_offset = 16;
  process.add_function(2, rule);
  put_signal_frame(process, kStack, kStack + 0x500, kStack + 0x400, in(2));
  process.put_word(kStack + 0x508, in(9));
  EXPECT_THAT(walk(plain_rule(OFFCPUD_UNWIND_SIGNAL)).addresses, ElementsAre(in(1), in(2), in(9)));
}

// A call may be the last instruction of its function, so a return address belongs to what is in
// front of it. An interrupted address is that of an instruction which is not done.
TEST_F(RemoteWalkTest, TellsReturnAddressesFromInterruptedOnes) {
  process.add_function(2, by_sp(8));
  process.add_function(3, plain_rule(OFFCPUD_UNWIND_INVALID));
  process.put_word(kStack, in(3, 0));  // behind a call at the end of function 2
  process.put_word(kStack + 8, in(9));
  EXPECT_THAT(walk(by_sp(8)).addresses, ElementsAre(in(1), in(3, 0), in(9)));

  put_signal_frame(process, kStack, 0, kStack, in(3, 0));
  const auto interrupted = walk(plain_rule(OFFCPUD_UNWIND_SIGNAL));
  EXPECT_THAT(interrupted.addresses, ElementsAre(in(1), in(3, 0)));
  EXPECT_EQ(interrupted.end, OFFCPUD_UNWIND_END_INVALID);
  EXPECT_EQ(process.walk({.ip = in(3, 0), .sp = kStack}).end, OFFCPUD_UNWIND_END_INVALID);
}

// vfork keeps its return address in rdi, which is the thread's in the innermost frame only.
TEST_F(RemoteWalkTest, TakesTheReturnAddressOutOfARegisterOnceOnly) {
  UnwindRule rule = plain_rule(OFFCPUD_UNWIND_RDI);
  rule.cfa_offset = 8;
  process.add_function(2, by_sp(16));
  process.put_word(kStack + 8 + 8, in(9));
  const UserRegisters registers{.ip = in(1), .sp = kStack, .bp = 0, .di = in(2)};
  EXPECT_THAT(walk(rule, registers).addresses, ElementsAre(in(1), in(2), in(9)));

  process.add_function(2, rule);
  const auto stack = walk(rule, registers);
  EXPECT_THAT(stack.addresses, ElementsAre(in(1), in(2)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_INVALID);
}

TEST_F(RemoteWalkTest, GoesOnWithoutTheFramePointerWhileNoRuleNeedsIt) {
  UnwindRule rule = by_sp(8);
  rule.rbp = OFFCPUD_UNWIND_RBP_LOST;
  process.add_function(2, by_sp(8));
  process.put_word(kStack, in(2));
  process.put_word(kStack + 8, in(9));
  process.put_word(kStack + 0x100, 0);  // where rbp was before it was lost
  process.put_word(kStack + 0x108, in(9));
  const UserRegisters registers{.ip = in(1), .sp = kStack, .bp = kStack + 0x100};
  EXPECT_THAT(walk(rule, registers).addresses, ElementsAre(in(1), in(2), in(9)));
  process.put_word(kStack, in(5));  // a function without a rule
  const auto stack = walk(rule, registers);
  EXPECT_THAT(stack.addresses, ElementsAre(in(1), in(5)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_NO_RULE);
}

TEST_F(RemoteWalkTest, StopsAtARuleThatCannotBeFollowed) {
  const auto stack = walk(plain_rule(OFFCPUD_UNWIND_INVALID));
  EXPECT_THAT(stack.addresses, ElementsAre(in(1)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_INVALID);
}

TEST_F(RemoteWalkTest, AReturnAddressOfZeroIsTheRoot) {
  process.put_word(kStack, 0);
  const auto stack = walk(by_sp(8));
  EXPECT_THAT(stack.addresses, ElementsAre(in(1)));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_ROOT);
}

TEST_F(RemoteWalkTest, HasNothingOfAThreadThatNeverWasInUserSpace) {
  const auto stack = process.walk({});
  EXPECT_THAT(stack.addresses, IsEmpty());
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_NO_USER);
}

TEST_F(RemoteWalkTest, StopsWhereTheStackCannotBeRead) {
  UnwindRule lost_bp = by_sp(8);
  lost_bp.rbp = OFFCPUD_UNWIND_RBP_AT_CFA;
  lost_bp.rbp_offset = 0x100;
  process.put_word(kStack, in(9));
  for (const UnwindRule& rule :
       {by_sp(16), lost_bp, plain_rule(OFFCPUD_UNWIND_RBP), plain_rule(OFFCPUD_UNWIND_SIGNAL),
        plain_rule(OFFCPUD_UNWIND_AT_RSP), plain_rule(OFFCPUD_UNWIND_AT_RBP)}) {
    const auto stack = walk(rule);
    EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_READ) << int{rule.kind};
    EXPECT_THAT(stack.addresses, ElementsAre(in(1))) << int{rule.kind};
  }
}

TEST_F(RemoteWalkTest, StopsAfterSoManyFrames) {
  process.add_function(2, by_sp(8));
  const auto put_calls = [this](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) process.put_word(kStack + 8 * i, in(2));
  };
  put_calls(200);
  const auto stack = process.walk({.ip = in(2), .sp = kStack});
  EXPECT_THAT(stack.addresses, SizeIs(OFFCPUD_UNWIND_FRAMES));
  EXPECT_EQ(stack.end, OFFCPUD_UNWIND_END_DEPTH);

  process.put_word(kStack + std::uint64_t{8} * 125,
                   in(9));  // the last that is looked at is the root
  const auto whole = process.walk({.ip = in(2), .sp = kStack});
  EXPECT_THAT(whole.addresses, SizeIs(OFFCPUD_UNWIND_FRAMES));
  EXPECT_EQ(whole.end, OFFCPUD_UNWIND_END_ROOT);
}

}  // namespace
}  // namespace offcpud
