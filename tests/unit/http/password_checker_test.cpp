// SPDX-License-Identifier: Apache-2.0
// The thread that compares passwords, and what its heartbeat says meanwhile.
#include "http/password_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <future>
#include <thread>

#include "base/thread_watch.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

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

constexpr const char* kHash = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";

std::chrono::duration<double> cpu_time_of_process() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(PasswordChecker, AFloodTakesNoMoreThanItsShareOfACpu) {
  std::atomic<int> compared = 0;
  std::function<void(PasswordVerdict)> again;  // outlives the thread that calls it
  PasswordChecker checker(nullptr, {.at_once = 1ns, .per_second = 0.02});
  again = [&](PasswordVerdict verdict) {
    if (verdict != PasswordVerdict::Wrong) return;
    // Some 4 ms each, of an address of its own.
    checker.check({"peer" + std::to_string(++compared),
                   {"alice", "wrong"},
                   "$2b$06$abcdefghijklmnopqrstuuk",
                   true,
                   again});
  };
  const std::chrono::duration<double> before = cpu_time_of_process();
  for (std::size_t i = 0; i < PasswordChecker::kMostWaiting; ++i) again(PasswordVerdict::Wrong);
  std::this_thread::sleep_for(2s);
  const std::chrono::duration<double> taken = cpu_time_of_process() - before;
  EXPECT_LT(taken.count(), 0.15) << "a fiftieth of 2 s, and one comparison";
  EXPECT_GE(compared, PasswordChecker::kMostWaiting + 2) << "nor much less";
}

TEST(PasswordChecker, WhoWasRightBeforeDoesNotWaitForTheShare) {
  PasswordChecker checker(nullptr, {.at_once = 1ns, .per_second = 1e-6});
  const auto ask = [&](const std::string& peer, const std::string& user,
                       const std::string& password) {
    auto verdict = std::make_shared<std::promise<PasswordVerdict>>();
    checker.check({peer, {user, password}, kHash, true, [verdict](PasswordVerdict is) {
                     verdict->set_value(is);
                   }});
    return verdict->get_future();
  };
  EXPECT_EQ(ask("scraper", "alice", "secret").get(), PasswordVerdict::Right);
  auto stranger = ask("stranger", "alice", "guess");
  EXPECT_EQ(stranger.wait_for(200ms), std::future_status::timeout);
  EXPECT_EQ(ask("scraper", "bob", "secret").get(), PasswordVerdict::Right);
  EXPECT_EQ(ask("scraper", "bob", "guess").get(), PasswordVerdict::Wrong);
  EXPECT_EQ(stranger.wait_for(0ms), std::future_status::timeout);
}

}  // namespace
}  // namespace offcpud
