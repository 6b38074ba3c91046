// SPDX-License-Identifier: Apache-2.0
// What the kernel says of a thread that was started: its name and its signals.
#include "base/thread_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <sstream>
#include <string>

namespace offcpud {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string status_of_thread(pid_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/status");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(StartThread, HasANameAndGetsNoSignal) {
  std::promise<pid_t> tid;
  std::promise<void> seen;
  std::thread thread = start_thread("offcpud-fifteen", [&] {
    tid.set_value(::gettid());
    seen.get_future().wait();
  });
  const std::string status = status_of_thread(tid.get_future().get());
  EXPECT_THAT(status, HasSubstr("Name:\toffcpud-fifteen\n"));
  // All but SIGKILL (9), SIGSTOP (19) and the two that the C library keeps for itself (32, 33).
  constexpr const char* kAllBlocked = "SigBlk:\tfffffffe7ffbfeff\n";
  EXPECT_THAT(status, HasSubstr(kAllBlocked));
  EXPECT_THAT(status_of_thread(::gettid()), Not(HasSubstr(kAllBlocked))) << "of who started it";
  seen.set_value();
  thread.join();
}

TEST(StartThread, OneThatCanBeAskedToStopHasAName) {
  std::promise<pid_t> tid;
  bool asked = false;
  {
    const std::jthread thread = start_thread("offcpud-stops", [&](const std::stop_token& stop) {
      tid.set_value(::gettid());
      while (!stop.stop_requested()) std::this_thread::yield();
      asked = true;
    });
    EXPECT_THAT(status_of_thread(tid.get_future().get()), HasSubstr("Name:\toffcpud-stops\n"));
  }
  EXPECT_TRUE(asked);
}

}  // namespace
}  // namespace offcpud
