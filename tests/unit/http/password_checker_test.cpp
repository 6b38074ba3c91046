// SPDX-License-Identifier: Apache-2.0
// The thread that compares passwords, and what its heartbeat says meanwhile.
#include "http/password_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/thread_watch.h"

namespace offcpud {
namespace {

// With the hash of a password that nobody knows.
PasswordJob job_of(const std::string& password, std::function<void(PasswordVerdict)> done) {
  const std::string hash = "$2b$04$abcdefghijklmnopqrstuuk";
  return {"peer", {"alice", password}, hash, true, std::move(done)};
}

TEST(PasswordChecker, IsAtAComparisonUntilTheAnswerIsGiven) {
  const auto heartbeat =
      std::make_shared<Heartbeat>(steady_system_clock(), "passwords", ThreadLimits{});
  PasswordChecker checker(heartbeat);
  EXPECT_FALSE(heartbeat->state().busy);
  std::promise<ThreadState> at_answer;
  checker.check(job_of("wrong", [&](PasswordVerdict verdict) {
    EXPECT_EQ(verdict, PasswordVerdict::Wrong);
    at_answer.set_value(heartbeat->state());
  }));
  const ThreadState state = at_answer.get_future().get();
  EXPECT_TRUE(state.busy);
  EXPECT_EQ(state.work, "comparing a password");
}

}  // namespace
}  // namespace offcpud
