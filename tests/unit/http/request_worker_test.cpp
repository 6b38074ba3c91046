// SPDX-License-Identifier: Apache-2.0
#include "http/request_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "unit/http/later_response.h"

namespace offcpud {
namespace {

using test::body_of;
using test::resolved;

TEST(RequestWorker, AnswersOnAnotherThread) {
  RequestWorker worker;
  const auto here = std::this_thread::get_id();
  std::thread::id there = here;
  const Response response = resolved(worker.respond([&](const std::stop_token&) {
    there = std::this_thread::get_id();
    return Response{.body = std::string("x")};
  }));
  EXPECT_EQ(body_of(response), "x");
  EXPECT_NE(there, here);
}

TEST(RequestWorker, AnExceptionIsAnAnswerToo) {
  RequestWorker worker;
  const auto failing = [](const std::stop_token&) -> Response { throw std::runtime_error("x"); };
  EXPECT_EQ(resolved(worker.respond(failing)).status, 500U);
  EXPECT_EQ(resolved(worker.respond([](const std::stop_token&) { return Response{}; })).status,
            200U);
}

TEST(RequestWorker, RefusesWhenTooManyWait) {
  std::latch release(1), busy(1);
  std::atomic<int> answered = 0;
  RequestWorker worker;
  const auto start = [&](const RequestWorker::Work& work) {
    const Response response = worker.respond(work);
    const auto* later = std::get_if<Later>(&response.body);
    if (later == nullptr) return response.status;
    later->start([&](const Later::Make&) { ++answered; });
    return 0U;
  };
  EXPECT_EQ(start([&](const std::stop_token&) {
              busy.count_down();
              release.wait();
              return Response{};
            }),
            0U);
  busy.wait();
  for (std::size_t i = 0; i < RequestWorker::kMostWaiting; ++i) {
    EXPECT_EQ(start([](const std::stop_token&) { return Response{}; }), 0U);
  }
  EXPECT_EQ(start([](const std::stop_token&) { return Response{}; }), 503U);
  release.count_down();
  while (answered < 1 + static_cast<int>(RequestWorker::kMostWaiting)) std::this_thread::yield();
}

// Their `done` is dropped, which tells the server.
TEST(RequestWorker, WhatWaitsWhenItStopsIsDropped) {
  std::latch busy(1);
  std::atomic<bool> dropped = false;
  {
    RequestWorker worker;
    const Response first = worker.respond([&](const std::stop_token&) {
      busy.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return Response{};
    });
    std::get<Later>(first.body).start([](const Later::Make&) {});
    busy.wait();
    const std::shared_ptr<void> promise(nullptr, [&](void*) { dropped = true; });
    const Response second = worker.respond([](const std::stop_token&) { return Response{}; });
    std::get<Later>(second.body).start([promise](const Later::Make&) { ADD_FAILURE(); });
  }
  EXPECT_TRUE(dropped);
}

Response text(const char* words) {
  return {.body = std::string(words)};
}

// A sum of a day must not keep the daemon from stopping, nor the answers that are ready.
TEST(RequestWorker, FinishCancelsWhatIsLongAndAnswersWhatIsReady) {
  RequestWorker worker;
  std::latch busy(1);
  std::promise<unsigned> cancelled;
  const Response day = worker.respond([&](const std::stop_token& stop) {
    busy.count_down();
    while (!stop.stop_requested()) std::this_thread::yield();  // pieces
    return Response{.status = 503};
  });
  std::get<Later>(day.body).start(
      [&](const Later::Make& make) { cancelled.set_value(make().status); });
  busy.wait();
  std::promise<std::string> answered;
  worker.answer([] { return text("ready"); },
                [&](const Later::Make& make) { answered.set_value(body_of(make())); });
  EXPECT_TRUE(worker.finish(std::chrono::seconds(10)));
  EXPECT_EQ(cancelled.get_future().get(), 503U);
  EXPECT_EQ(answered.get_future().get(), "ready");
  EXPECT_EQ(resolved(worker.respond([](const std::stop_token&) { return text("late"); })).status,
            503U);
}

TEST(RequestWorker, FinishDoesNotWaitForAPieceThatHangs) {
  std::latch busy(1), release(1);
  RequestWorker worker;
  const Response hanging = worker.respond([&](const std::stop_token&) {
    busy.count_down();
    release.wait();
    return Response{};
  });
  std::get<Later>(hanging.body).start([](const Later::Make&) {});
  busy.wait();
  EXPECT_FALSE(worker.finish(std::chrono::milliseconds(1)));
  release.count_down();
  EXPECT_TRUE(worker.finish(std::chrono::seconds(10)));
}

// A sum that takes long waits; a profile whose time is over does not.
TEST(RequestWorker, AnAnswerThatIsReadyComesBeforeSumsThatWait) {
  std::latch busy(1), release(1), both(2);
  std::vector<std::string> order;
  RequestWorker worker;
  const auto note = [&](const Later::Make& make) {
    order.push_back(body_of(make()));
    both.count_down();
  };
  const Response first = worker.respond([&](const std::stop_token&) {
    busy.count_down();
    release.wait();
    return Response{};
  });
  std::get<Later>(first.body).start([](const Later::Make&) {});
  busy.wait();
  const Response sum = worker.respond([](const std::stop_token&) { return text("sum"); });
  std::get<Later>(sum.body).start(note);
  worker.answer([] { return text("profile"); }, note);
  release.count_down();
  both.wait();
  EXPECT_THAT(order, testing::ElementsAre("profile", "sum"));
}

}  // namespace
}  // namespace offcpud
