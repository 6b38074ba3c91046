// SPDX-License-Identifier: Apache-2.0
#include "runtime/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

namespace offcpud {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<EventLoop> new_loop() {
  auto loop = EventLoop::create();
  EXPECT_TRUE(loop) << loop.error().message();
  return std::move(*loop);
}

MonotonicTime at(std::chrono::microseconds time) {
  return MonotonicTime(time);
}

TEST(NextDue, IsOneIntervalLaterHoweverLateTheCallbackWas) {
  EXPECT_EQ(next_due(at(10s), 10s, at(10s)), at(20s));
  EXPECT_EQ(next_due(at(10s), 10s, at(13s)), at(20s));
  EXPECT_EQ(next_due(at(10s), 10s, at(19999999us)), at(20s));
}

TEST(NextDue, SkipsTheTicksThatAStoppedProcessMissed) {
  EXPECT_EQ(next_due(at(10s), 10s, at(20s)), at(30s));
  EXPECT_EQ(next_due(at(10s), 10s, at(3601s)), at(3610s));
}

TEST(EventLoop, ReturnsTheCodeOfStop) {
  const auto loop = new_loop();
  loop->post([&] { loop->stop(7); });
  EXPECT_EQ(*loop->run(), 7);
}

TEST(EventLoop, DeliversASignalAsACallback) {
  const auto loop = new_loop();
  ASSERT_TRUE(loop->on_signal(SIGUSR1, [&] { loop->stop(1); }));
  ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
  EXPECT_EQ(*loop->run(), 1);
}

TEST(EventLoop, CallsBackForAReadableDescriptor) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd reader(ends[0]);
  const UniqueFd writer(ends[1]);
  const auto loop = new_loop();
  char byte = 0;
  ASSERT_TRUE(loop->on_readable(reader.get(), [&] {
    EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
    loop->stop(0);
  }));
  ASSERT_EQ(::write(writer.get(), "x", 1), 1);
  EXPECT_EQ(*loop->run(), 0);
  EXPECT_EQ(byte, 'x');
}

TEST(EventLoop, RefusesADescriptorThatIsNotOpen) {
  EXPECT_FALSE(new_loop()->on_readable(-1, [] {}));
}

TEST(EventLoop, TicksUntilStopped) {
  const auto loop = new_loop();
  int ticks = 0;
  ASSERT_TRUE(loop->every(1ms, [&] {
    if (++ticks == 3) loop->stop(0);
  }));
  EXPECT_EQ(*loop->run(), 0);
  EXPECT_EQ(ticks, 3);
}

TEST(EventLoop, AChangedIntervalReplacesTheOneUnderWay) {
  const auto loop = new_loop();
  auto timer = loop->every(1h, [&] { loop->stop(0); });
  ASSERT_TRUE(timer);
  loop->post([&] { (*timer)->set_interval(1ms); });
  EXPECT_EQ(*loop->run(), 0);
}

TEST(EventLoop, ATimerMayChangeItsOwnInterval) {
  const auto loop = new_loop();
  EventLoop::Timer* timer = nullptr;
  auto changed = std::chrono::steady_clock::now();
  int ticks = 0;
  auto started = loop->every(1ms, [&] {
    if (++ticks == 2) loop->stop(0);
    if (ticks > 1) return;
    timer->set_interval(100ms);
    changed = std::chrono::steady_clock::now();
  });
  ASSERT_TRUE(started);
  timer = *started;
  EXPECT_EQ(*loop->run(), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - changed, 95ms);
}

TEST(EventLoop, ANonsenseIntervalDoesNotSpin) {
  const auto loop = new_loop();
  int ticks = 0;
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(loop->every(0us, [&] {
    if (++ticks == 20) loop->stop(0);
  }));
  EXPECT_EQ(*loop->run(), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 19ms);
}

TEST(EventLoop, RunsWorkOfOtherThreadsInTheOrderPosted) {
  const auto loop = new_loop();
  constexpr int kCount = 10'000;
  std::vector<int> seen;
  std::thread other([&] {
    for (int i = 0; i < kCount; ++i) loop->post([&, i] { seen.push_back(i); });
    loop->post([&] { loop->stop(0); });
  });
  EXPECT_EQ(*loop->run(), 0);
  other.join();
  ASSERT_EQ(seen.size(), kCount);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(EventLoop, WorkPostedFromACallbackRunsToo) {
  const auto loop = new_loop();
  loop->post([&] { loop->post([&] { loop->stop(5); }); });
  EXPECT_EQ(*loop->run(), 5);
}

}  // namespace
}  // namespace offcpud
