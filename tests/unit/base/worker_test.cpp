// SPDX-License-Identifier: Apache-2.0
#include "base/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// Performs numbers by noting them; the first one only once it is told to go on.
struct Slow {
  std::latch begun{1}, go_on{1};
  std::vector<int> performed;

  Worker<int>::Perform perform() {
    return [this](int number, const std::stop_token&) {
      if (performed.empty()) {
        begun.count_down();
        go_on.wait();
      }
      performed.push_back(number);
    };
  }
};

void add(Worker<int>& worker, int number) {
  worker.change([&](auto& waiting) { waiting.push_back(number); });
}

TEST(Worker, PerformsInOrderOnAThreadOfThatName) {
  std::string name;
  std::vector<int> performed;
  Worker<int> worker("offcpud-test", [&](int number, const std::stop_token&) {
    std::array<char, 16> text{};
    ::pthread_getname_np(::pthread_self(), text.data(), text.size());
    name = text.data();
    performed.push_back(number);
  });
  worker.change([](auto& waiting) { waiting = {1, 2, 3}; });
  EXPECT_TRUE(worker.wait_until_idle(10s));
  EXPECT_THAT(performed, ElementsAre(1, 2, 3));
  EXPECT_EQ(name, "offcpud-test");
}

// Two ways to bound the queue: the oldest gives way, or the newest is refused.
TEST(Worker, TheOwnerSaysWhatAFullQueueDrops) {
  Slow slow;
  Worker<int> worker("offcpud-test", slow.perform());
  add(worker, 1);
  slow.begun.wait();
  for (const int number : {2, 3, 4}) {
    worker.change([&](auto& waiting) {
      if (waiting.size() == 2) waiting.pop_front();
      waiting.push_back(number);
    });
  }
  EXPECT_FALSE(worker.change([](auto& waiting) {
    if (waiting.size() < 2) waiting.push_back(5);
    return waiting.size() < 2;
  }));
  slow.go_on.count_down();
  EXPECT_TRUE(worker.wait_until_idle(10s));
  EXPECT_THAT(slow.performed, ElementsAre(1, 3, 4));
}

TEST(Worker, AJobInProgressIsNotIdle) {
  Slow slow;
  Worker<int> worker("offcpud-test", slow.perform());
  add(worker, 1);
  slow.begun.wait();
  EXPECT_FALSE(worker.wait_until_idle(1ms));
  slow.go_on.count_down();
  EXPECT_TRUE(worker.wait_until_idle(10s));
}

TEST(Worker, BeginsBeforeAnyJobAndIsNotIdleBefore) {
  Slow slow;
  std::latch answers(1);
  std::atomic<bool> has_begun = false;
  Worker<int> worker("offcpud-test", slow.perform(), [&] {
    answers.wait();
    has_begun = true;
  });
  EXPECT_FALSE(worker.wait_until_idle(1ms));
  add(worker, 1);
  EXPECT_FALSE(slow.begun.try_wait());
  answers.count_down();
  slow.begun.wait();
  EXPECT_TRUE(has_begun);
  slow.go_on.count_down();
}

TEST(Worker, ItsEndAsksTheJobInProgressToStopAndDropsTheOthers) {
  std::latch begun(1);
  std::vector<int> performed;
  const auto dropped = std::make_shared<int>(2);
  {
    Worker<std::shared_ptr<int>> worker(
        "offcpud-test", [&](const std::shared_ptr<int>& job, const std::stop_token& stop) {
          begun.count_down();
          while (!stop.stop_requested()) std::this_thread::yield();
          performed.push_back(*job);
        });
    worker.change([&](auto& waiting) { waiting = {std::make_shared<int>(1), dropped}; });
    begun.wait();
  }
  EXPECT_THAT(performed, ElementsAre(1));
  EXPECT_EQ(dropped.use_count(), 1);
}

// Whoever waits for a job learns of its end, or of its being dropped, by what the job owns.
TEST(Worker, AJobIsDestroyedOnceItIsPerformed) {
  std::atomic<bool> is_free = false;
  Worker<std::shared_ptr<void>> worker("offcpud-test",
                                       [](const std::shared_ptr<void>&, const std::stop_token&) {});
  worker.change([&](auto& waiting) {
    waiting.emplace_back(nullptr, [&](void*) {
      worker.change([](auto&) {});  // without the lock
      is_free = true;
    });
  });
  EXPECT_TRUE(worker.wait_until_idle(10s));
  EXPECT_TRUE(is_free);
}

TEST(WorkerDeathTest, AnExceptionOfAJobEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    Worker<int> worker("offcpud-test", [](int, const std::stop_token&) {
      throw std::runtime_error("no memory for the job");
    });
    add(worker, 1);
    (void)worker.wait_until_idle(10s);
  };
  EXPECT_DEATH(run(), "no memory for the job");
}

}  // namespace
}  // namespace offcpud
