// SPDX-License-Identifier: Apache-2.0
#include "pipeline/idle_pasts.h"

#include <gtest/gtest.h>

namespace offcpud::test {
namespace {

TEST(IdlePasts, TheLastOneOfItsKindDecides) {
  IdlePasts pasts;
  EXPECT_FALSE(pasts.was_idle(100, OFFCPUD_BLOCKED_LOCK, 1));
  pasts.note(100, OFFCPUD_BLOCKED_LOCK, true, 1);
  EXPECT_TRUE(pasts.was_idle(100, OFFCPUD_BLOCKED_LOCK, 2));
  EXPECT_FALSE(pasts.was_idle(100, OFFCPUD_BLOCKED_PIPE, 2));
  EXPECT_FALSE(pasts.was_idle(101, OFFCPUD_BLOCKED_LOCK, 2));
  pasts.note(100, OFFCPUD_BLOCKED_PIPE, true, 3);
  pasts.note(100, OFFCPUD_BLOCKED_LOCK, false, 3);
  EXPECT_FALSE(pasts.was_idle(100, OFFCPUD_BLOCKED_LOCK, 4));
  EXPECT_TRUE(pasts.was_idle(100, OFFCPUD_BLOCKED_PIPE, 4));
}

TEST(IdlePasts, WhatIsOldIsForgotten) {
  IdlePasts pasts;
  pasts.note(100, OFFCPUD_BLOCKED_LOCK, true, 1);
  EXPECT_TRUE(pasts.was_idle(100, OFFCPUD_BLOCKED_LOCK, 1 + IdlePasts::kForgottenAfter));
  EXPECT_FALSE(pasts.was_idle(100, OFFCPUD_BLOCKED_LOCK, 2 + IdlePasts::kForgottenAfter));
  pasts.forget_old(2 + IdlePasts::kForgottenAfter);
  EXPECT_EQ(pasts.processes(), 0U);
}

TEST(IdlePasts, IsBounded) {
  IdlePasts pasts;
  for (std::uint32_t tgid = 1; tgid <= IdlePasts::kMaxProcesses + 10; ++tgid) {
    pasts.note(tgid, OFFCPUD_BLOCKED_LOCK, true, 1);
  }
  EXPECT_EQ(pasts.processes(), IdlePasts::kMaxProcesses);
  pasts.note(1, OFFCPUD_BLOCKED_PIPE, true, 2);
  EXPECT_TRUE(pasts.was_idle(1, OFFCPUD_BLOCKED_PIPE, 2)) << "who has a past keeps it";
}

}  // namespace
}  // namespace offcpud::test
