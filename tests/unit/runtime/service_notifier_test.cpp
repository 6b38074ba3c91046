// SPDX-License-Identifier: Apache-2.0
#include "runtime/service_notifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/unique_handle.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using testing::MatchesRegex;

// A service manager's end of the protocol, on an abstract socket.
class ServiceNotifierTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = "offcpud-test-" + std::to_string(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(&address.sun_path[1], name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    manager_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ASSERT_EQ(::bind(manager_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    ::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1);
  }

  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
  }

  std::string received() {
    std::array<char, 4096> buffer{};
    const auto length = ::recv(manager_.get(), buffer.data(), buffer.size(), 0);
    return length < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(length));
  }

  UniqueFd manager_;
};

TEST_F(ServiceNotifierTest, SpeaksTheProtocol) {
  const ServiceNotifier notifier;
  notifier.ready("3 programs attached");
  EXPECT_EQ(received(), "READY=1\nSTATUS=3 programs attached");
  notifier.stopping();
  EXPECT_EQ(received(), "STOPPING=1\nSTATUS=Stopping");
  notifier.feed_watchdog();
  EXPECT_EQ(received(), "WATCHDOG=1");
}

TEST_F(ServiceNotifierTest, ReloadingCarriesItsTime) {
  ServiceNotifier().reloading();
  EXPECT_THAT(received(), MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+\nSTATUS=.+"));
}

TEST_F(ServiceNotifierTest, AStatusCannotInjectAnAssignment) {
  ServiceNotifier().status("line\nMAINPID=1");
  EXPECT_EQ(received(), "STATUS=line MAINPID=1");
}

TEST_F(ServiceNotifierTest, IsSilentOutsideAService) {
  ::unsetenv("NOTIFY_SOCKET");
  const ServiceNotifier notifier;
  notifier.ready("up");
  notifier.feed_watchdog();
  EXPECT_EQ(received(), "");
}

TEST_F(ServiceNotifierTest, ReportsTheWatchdogOfThisProcessOnly) {
  EXPECT_EQ(ServiceNotifier().watchdog_interval(), std::nullopt);
  ::setenv("WATCHDOG_USEC", "60000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(ServiceNotifier().watchdog_interval(), 60s);
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceNotifier().watchdog_interval(), std::nullopt);
}

}  // namespace
}  // namespace offcpud
