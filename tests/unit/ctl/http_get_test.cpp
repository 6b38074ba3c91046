// SPDX-License-Identifier: Apache-2.0
#include "ctl/http_get.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "base/unique_handle.h"

namespace offcpud {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// Listens on a free port of 127.0.0.1 or on a UNIX socket, and answers one request.
class OneAnswer {
 public:
  OneAnswer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_.get(), raw, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
    EXPECT_EQ(::getsockname(socket_.get(), raw, &size), 0);
    address_ = {"127.0.0.1", ntohs(address.sin_port), ""};
  }
  explicit OneAnswer(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), address_{"", 0, path} {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(socket_.get(), 1), 0);
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;
  ~OneAnswer() {
    ::shutdown(socket_.get(), SHUT_RDWR);  // wakes accept when nobody came
    if (thread_.joinable()) thread_.join();
  }

  [[nodiscard]] const ListenAddress& address() const { return address_; }
  [[nodiscard]] std::string request() {
    thread_.join();
    return request_;
  }

  void answer(std::string response) {
    thread_ = std::thread([this, response = std::move(response)] {
      const UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      std::array<char, 4096> buffer{};
      const ssize_t got = ::read(peer.get(), buffer.data(), buffer.size());
      if (got > 0) request_.assign(buffer.data(), static_cast<std::size_t>(got));
      EXPECT_EQ(::send(peer.get(), response.data(), response.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(response.size()));
    });
  }

 private:
  UniqueFd socket_;
  ListenAddress address_;
  std::string request_;
  std::thread thread_;
};

TEST(HttpGet, ReturnsStatusAndBody) {
  OneAnswer server;
  server.answer("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno");
  const auto answer = http_get({server.address()}, "/api/v1/status");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 503);
  EXPECT_EQ(answer->body, "no");
  EXPECT_THAT(server.request(), StartsWith("GET /api/v1/status HTTP/1.1\r\n"));
}

TEST(HttpGet, SpeaksOverAUnixSocket) {
  std::string directory = std::filesystem::temp_directory_path() / "offcpud-ctl-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  {
    OneAnswer server(directory + "/http.sock");
    server.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    const auto answer = http_get({server.address()}, "/");
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->body, "{}");
  }
  std::filesystem::remove_all(directory);
}

TEST(HttpGet, AProxyOfTheEnvironmentIsNotAsked) {
  ASSERT_EQ(::setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
  OneAnswer server;
  server.answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  const auto answer = http_get({server.address()}, "/");
  EXPECT_TRUE(answer) << answer.error().message();
  ASSERT_EQ(::unsetenv("http_proxy"), 0);
}

TEST(HttpGet, ARefusedConnectionSaysWhatToDo) {
  ListenAddress address;
  {
    const OneAnswer closed_again;
    address = closed_again.address();
  }
  const auto answer = http_get({address}, "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::Unsupported);
  EXPECT_EQ(answer.error().message(),
            "no offcpud answers at 127.0.0.1:" + std::to_string(address.port) +
                ": Connection refused; start it (systemctl start offcpud), or give its address "
                "with --server");
}

TEST(HttpGet, AMissingUnixSocketSaysWhatToDo) {
  const auto answer = http_get({{"", 0, "/nonexistent/http.sock"}}, "/");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message(),
              StartsWith("no offcpud answers at unix:/nonexistent/http.sock: "));
  EXPECT_THAT(answer.error().message(), HasSubstr("systemctl start offcpud"));
}

// No server of names is asked for a name that is too long for one.
TEST(HttpGet, AnUnknownNameSaysWhatToDo) {
  const auto answer = http_get({{std::string(70, 'a') + ".invalid", 1, ""}}, "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::Unsupported);
  EXPECT_THAT(answer.error().message(), HasSubstr("resolve host"));
  EXPECT_THAT(answer.error().message(),
              EndsWith("; check the name, or give the address as a number with --server"));
}

TEST(HttpGet, SomethingElseThanHttpIsAnError) {
  OneAnswer server;
  server.answer("SSH-2.0-OpenSSH_9.2\r\n");
  const auto answer = http_get({server.address()}, "/");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message(), StartsWith("no answer from 127.0.0.1:"));
}

}  // namespace
}  // namespace offcpud
