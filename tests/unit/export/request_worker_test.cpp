// SPDX-License-Identifier: Apache-2.0
#include "export/request_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <stdexcept>
#include <vector>

#include "unit/export/later_response.h"

namespace offcpud {
namespace {

using test::body_of;
using test::resolved;

TEST(RequestWorker, AnswersOnAnotherThread) {
  RequestWorker worker;
  const auto here = std::this_thread::get_id();
  std::thread::id there = here;
  const Response response = resolved(worker.respond([&] {
    there = std::this_thread::get_id();
    return Response{.body = std::string("x")};
  }));
  EXPECT_EQ(body_of(response), "x");
  EXPECT_NE(there, here);
}

TEST(RequestWorker, AnExceptionIsAnAnswerToo) {
  RequestWorker worker;
  const auto failing = []() -> Response { throw std::runtime_error("x"); };
  EXPECT_EQ(resolved(worker.respond(failing)).status, 500U);
  EXPECT_EQ(resolved(worker.respond([] { return Response{}; })).status, 200U);
}

TEST(RequestWorker, RefusesWhenTooManyWait) {
  std::latch release(1), busy(1);
  std::atomic<int> answered = 0;
  RequestWorker worker;
  const auto start = [&](const Later::Make& make) {
    const Response response = worker.respond(make);
    const auto* later = std::get_if<Later>(&response.body);
    if (later == nullptr) return response.status;
    later->start([&](const Later::Make&) { ++answered; });
    return 0U;
  };
  EXPECT_EQ(start([&] {
              busy.count_down();
              release.wait();
              return Response{};
            }),
            0U);
  busy.wait();
  for (std::size_t i = 0; i < RequestWorker::kMostWaiting; ++i) {
    EXPECT_EQ(start([] { return Response{}; }), 0U);
  }
  EXPECT_EQ(start([] { return Response{}; }), 503U);
  release.count_down();
  while (answered < 1 + static_cast<int>(RequestWorker::kMostWaiting)) std::this_thread::yield();
}

// Their `done` is dropped, which tells the server.
TEST(RequestWorker, WhatWaitsWhenItStopsIsDropped) {
  std::latch busy(1);
  std::atomic<bool> dropped = false;
  {
    RequestWorker worker;
    const Response first = worker.respond([&] {
      busy.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return Response{};
    });
    std::get<Later>(first.body).start([](const Later::Make&) {});
    busy.wait();
    const std::shared_ptr<void> promise(nullptr, [&](void*) { dropped = true; });
    const Response second = worker.respond([] { return Response{}; });
    std::get<Later>(second.body).start([promise](const Later::Make&) { ADD_FAILURE(); });
  }
  EXPECT_TRUE(dropped);
}

}  // namespace
}  // namespace offcpud
