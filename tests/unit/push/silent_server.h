// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

#include "base/unique_handle.h"

namespace offcpud::test {

// Takes connections (the kernel does) and never answers.
class SilentServer {
 public:
  // `backlog` 0: room for one connection; the next ones wait for theirs.
  explicit SilentServer(int backlog = 8)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    EXPECT_EQ(::bind(socket_.get(), raw(), size), 0);
    EXPECT_EQ(::listen(socket_.get(), backlog), 0);
    EXPECT_EQ(::getsockname(socket_.get(), raw(), &size), 0);
  }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/ingest";
  }
  // Takes the room of one connection.
  [[nodiscard]] UniqueFd connect() {
    UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client.get(), raw(), sizeof(address_)), 0);
    return client;
  }

 private:
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&address_); }

  UniqueFd socket_;
  sockaddr_in address_{};
};

}  // namespace offcpud::test
