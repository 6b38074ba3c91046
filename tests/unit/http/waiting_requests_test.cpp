// SPDX-License-Identifier: Apache-2.0
// Answers that come later, over real sockets.
#include "http/waiting_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <thread>
#include <vector>

#include "http/http_server.h"
#include "unit/http/http_client.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A server whose path /later is answered when the test says so, and every other at once.
class WaitingRequestsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto listener = open_listener("127.0.0.1:0");
    ASSERT_TRUE(listener) << listener.error().message();
    address_ = listener->address().text();
    const auto respond = [this](const Request& request) {
      if (request.path != "/later") return Response{.body = std::string("now")};
      return Response{.body = Later{[this](Later::Done done) {
                        const std::lock_guard lock(mutex_);
                        done_.push_back(std::move(done));
                        changed_.notify_all();
                      }}};
    };
    auto server = HttpServer::start(std::move(*listener), respond, {.waiting = 3});
    ASSERT_TRUE(server) << server.error().message();
    server_ = std::move(*server);
  }

  std::future<std::string> ask() {
    return std::async(std::launch::async, [this] { return test::fetch(address_, "GET /later"); });
  }

  void await(std::size_t requests) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 10s, [&] { return done_.size() == requests; }));
  }

  std::string address_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Later::Done> done_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(WaitingRequestsTest, AnswersComeWhenTheyAreThereAndOthersMeanwhile) {
  auto first = ask(), second = ask(), third = ask();
  await(3);
  // There are two threads, and three requests wait.
  for (int i = 0; i < 5; ++i) EXPECT_THAT(test::fetch(address_, "GET /"), HasSubstr("now"));
  EXPECT_EQ(first.wait_for(50ms), std::future_status::timeout);
  for (const auto& done : done_) done([] { return Response{.body = std::string("at last")}; });
  for (auto* answer : {&first, &second, &third}) {
    const std::string text = answer->get();
    EXPECT_THAT(text, StartsWith("HTTP/1.1 200"));
    EXPECT_THAT(text, HasSubstr("at last"));
  }
}

TEST_F(WaitingRequestsTest, MoreThanAllowedAreRefused) {
  auto first = ask(), second = ask(), third = ask();
  await(3);
  EXPECT_THAT(test::fetch(address_, "GET /later"),
              AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("too many requests wait")));
  done_[0]([] { return Response{}; });
  const auto answered = [](auto& answer) {
    return answer.wait_for(0s) == std::future_status::ready;
  };
  while (!answered(first) && !answered(second) && !answered(third))
    std::this_thread::sleep_for(1ms);
  done_.clear();
  auto next = ask();
  await(1);
  done_[0]([] { return Response{}; });
  EXPECT_THAT(next.get(), StartsWith("HTTP/1.1 200"));
}

TEST_F(WaitingRequestsTest, AnAnswerThatNobodyCanGiveAnyMoreIsAnError) {
  auto answer = ask();
  await(1);
  done_.clear();
  EXPECT_THAT(answer.get(), AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("given up")));
}

TEST_F(WaitingRequestsTest, OnlyTheFirstAnswerCounts) {
  auto answer = ask();
  await(1);
  done_[0]([] { return Response{.body = std::string("first")}; });
  done_[0]([] { return Response{.body = std::string("second")}; });
  EXPECT_THAT(answer.get(), HasSubstr("first"));
}

TEST_F(WaitingRequestsTest, TheServerStopsWhileSomeWaitAndAnswersMayComeAfterIt) {
  auto first = ask(), second = ask();
  await(2);
  const auto begin = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  done_[0]([] { return Response{}; });
  first.get();
  second.get();
}

TEST_F(WaitingRequestsTest, AClientThatLeavesDisturbsNobody) {
  {
    const UniqueFd client = test::connect_to(address_);
    ASSERT_TRUE(test::send_text(client.get(), "GET /later HTTP/1.1\r\nHost: x\r\n\r\n"));
    await(1);
  }
  done_[0]([] { return Response{.body = std::string(1 << 20, 'x')}; });
  EXPECT_THAT(test::fetch(address_, "GET /"), HasSubstr("now"));
}

}  // namespace
}  // namespace offcpud
