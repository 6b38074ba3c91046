// SPDX-License-Identifier: Apache-2.0
#include "export/connection_deadlines.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "unit/export/http_client.h"

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
  deadlines_.set(this, server_.get(), std::chrono::steady_clock::now());
  EXPECT_TRUE(test::is_closed_within(client_.get(), 5s));
}

TEST_F(ConnectionDeadlinesTest, ALaterDeadlineReplacesTheEarlierOne) {
  deadlines_.set(this, server_.get(), std::chrono::steady_clock::now() + 1h);
  deadlines_.set(this, server_.get(), std::chrono::steady_clock::now());
  EXPECT_TRUE(test::is_closed_within(client_.get(), 5s));
}

TEST_F(ConnectionDeadlinesTest, AForgottenConnectionIsLeftAlone) {
  deadlines_.set(this, server_.get(), std::chrono::steady_clock::now() + 100ms);
  deadlines_.forget(this);
  EXPECT_FALSE(test::is_closed_within(client_.get(), 600ms));
}

}  // namespace
}  // namespace offcpud
