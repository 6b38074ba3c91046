// SPDX-License-Identifier: Apache-2.0
#include "pipeline/view_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/fake_clock.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const View> view_at(MonotonicTime taken) {
  auto view = std::make_shared<View>();
  view->taken = taken;
  return view;
}

TEST(ViewBoard, AYoungViewIsServedWithoutAPass) {
  FakeClock clock;
  int requests = 0;
  ViewBoard board([&] { ++requests; }, clock);
  EXPECT_EQ(board.last(), nullptr);
  const auto view = view_at(clock.now());
  board.publish(view);
  clock.advance(999ms);
  EXPECT_EQ(board.fresh(1s, 1h), view);
  EXPECT_EQ(requests, 0);
}

TEST(ViewBoard, AnOldViewAsksForAPassAndWaitsForIt) {
  FakeClock clock;
  ViewBoard* board = nullptr;
  std::thread pipeline;
  ViewBoard real([&] { pipeline = std::thread([&] { board->publish(view_at(clock.now())); }); },
                 clock);
  board = &real;
  real.publish(view_at(clock.now()));
  clock.advance(1s);
  const auto view = real.fresh(1s, 1h);
  pipeline.join();
  EXPECT_EQ(view->taken, clock.now());
}

TEST(ViewBoard, WhoeverWaitsForAFailedPassGetsTheLastView) {
  FakeClock clock;
  ViewBoard* board = nullptr;
  std::thread pipeline;
  ViewBoard real([&] { pipeline = std::thread([&] { board->give_up(); }); }, clock);
  board = &real;
  const auto old = view_at(clock.now());
  real.publish(old);
  clock.advance(1min);
  EXPECT_EQ(real.fresh(1s, 1h), old);
  pipeline.join();
}

TEST(ViewBoard, PatienceEnds) {
  FakeClock clock;
  ViewBoard board([] {}, clock);
  EXPECT_EQ(board.fresh(1s, 1ms), nullptr);
}

TEST(ViewBoard, NobodyWaitsOnceItIsClosed) {
  FakeClock clock;
  ViewBoard* board = nullptr;
  std::thread stopping;
  ViewBoard real([&] { stopping = std::thread([&] { board->close(); }); }, clock);
  board = &real;
  const auto old = view_at(clock.now());
  real.publish(old);
  clock.advance(1min);
  EXPECT_EQ(real.fresh(1s, 1h), old);
  stopping.join();
  EXPECT_EQ(real.fresh(1s, 1h), old);
}

TEST(ViewBoard, ManyScrapesShareOnePass) {
  FakeClock clock;
  std::atomic<int> requests = 0;
  ViewBoard board([&] { ++requests; }, clock);
  std::vector<std::thread> scrapes;
  std::atomic<int> served = 0;
  for (int i = 0; i < 8; ++i) {
    scrapes.emplace_back([&] { served += board.fresh(1s, 1h) != nullptr ? 1 : 0; });
  }
  while (served < 8) {  // late scrapes find the View or ask again
    std::this_thread::yield();
    if (requests > 0) board.publish(view_at(clock.now()));
  }
  for (std::thread& scrape : scrapes) scrape.join();
  EXPECT_EQ(requests, 1);
}

}  // namespace
}  // namespace offcpud
