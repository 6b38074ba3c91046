// SPDX-License-Identifier: Apache-2.0
#include "http/connection_deadlines.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "unit/http/http_client.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;

class ConnectionDeadlinesTest : public ::testing::Test {
 protected:
  ConnectionDeadlinesTest() {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    server_.reset(pair[0]);
    client_.reset(pair[1]);
  }

  UniqueFd server_;
  UniqueFd client_;
  ConnectionDeadlines deadlines_;
};

TEST_F(ConnectionDeadlinesTest, AnExpiredConnectionIsShutDown) {
  deadlines_.open(this, server_.get(), "a", std::chrono::steady_clock::now());
  EXPECT_TRUE(test::is_closed_within(client_.get(), 5s));
}

TEST_F(ConnectionDeadlinesTest, ALaterDeadlineReplacesTheEarlierOne) {
  deadlines_.open(this, server_.get(), "a", std::chrono::steady_clock::now() + 1h);
  deadlines_.respond(this, std::chrono::steady_clock::now());
  EXPECT_TRUE(test::is_closed_within(client_.get(), 5s));
}

TEST_F(ConnectionDeadlinesTest, ASuspendedOrClosedConnectionIsLeftAlone) {
  deadlines_.open(this, server_.get(), "a", std::chrono::steady_clock::now() + 100ms);
  deadlines_.suspend(this);
  EXPECT_FALSE(test::is_closed_within(client_.get(), 600ms));
  deadlines_.await_request(this, std::chrono::steady_clock::now() + 100ms);
  deadlines_.close(this);
  EXPECT_FALSE(test::is_closed_within(client_.get(), 600ms));
}

TEST_F(ConnectionDeadlinesTest, TheIdlestOfTooManyIsShutDown) {
  ConnectionDeadlines crowded({.total = 1, .per_peer = 1});
  crowded.open(this, server_.get(), "a", std::chrono::steady_clock::now() + 1h);
  crowded.open(&crowded, -1, "b", std::chrono::steady_clock::now() + 1h);
  EXPECT_TRUE(test::is_closed_within(client_.get(), 5s));
}

}  // namespace
}  // namespace offcpud
