// SPDX-License-Identifier: Apache-2.0
#include "unit/http/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>

namespace offcpud::test {
namespace {

UniqueFd connect_raw(const void* address, socklen_t length, int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  if (::connect(fd.get(), static_cast<const sockaddr*>(address), length) != 0) fd.reset();
  return fd;
}

}  // namespace

UniqueFd connect_to(const std::string& address) {
  if (address.starts_with("unix:")) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address.copy(name.sun_path, sizeof(name.sun_path) - 1, 5);
    return connect_raw(&name, sizeof(name), AF_UNIX);
  }
  const std::size_t colon = address.rfind(':');
  const auto port = htons(static_cast<std::uint16_t>(std::stoul(address.substr(colon + 1))));
  if (address.starts_with('[')) {
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_port = port;
    ::inet_pton(AF_INET6, address.substr(1, colon - 2).c_str(), &name.sin6_addr);
    return connect_raw(&name, sizeof(name), AF_INET6);
  }
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = port;
  ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &name.sin_addr);
  return connect_raw(&name, sizeof(name), AF_INET);
}

bool is_readable_within(int fd, std::chrono::milliseconds patience) {
  pollfd poll_fd{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&poll_fd, 1, static_cast<int>(patience.count())) == 1;
}

bool send_text(int fd, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

std::string receive_all(int fd, std::chrono::milliseconds patience) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (is_readable_within(fd, patience)) {
    const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

std::string fetch(const std::string& address, const std::string& method_and_path) {
  const UniqueFd fd = connect_to(address);
  if (!fd) return {};
  const std::string head = " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
  if (!send_text(fd.get(), method_and_path + head)) return {};
  return receive_all(fd.get());
}

bool is_closed_within(int fd, std::chrono::milliseconds patience) {
  char byte = 0;
  return is_readable_within(fd, patience) && ::recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

std::string unchunk(const std::string& response) {
  std::string body;
  std::size_t at = response.find("\r\n\r\n") + 4;
  for (;;) {
    const std::size_t size = std::stoul(response.substr(at, 16), nullptr, 16);
    if (size == 0) return body;
    const std::size_t start = response.find("\r\n", at) + 2;
    body += response.substr(start, size);
    at = start + size + 2;
  }
}

}  // namespace offcpud::test
