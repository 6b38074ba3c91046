// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// The address on which the daemon listens and offcpuctl reaches it.
struct ListenAddress {
  std::string host;        // name, IPv4 address, or IPv6 address without brackets
  std::uint16_t port = 0;  // 0: any free port
  std::string unix_path;   // absolute; if set, host and port are ignored

  [[nodiscard]] bool is_unix() const { return !unix_path.empty(); }
  // A unix socket, or a host for which is_loopback_host() is true.
  [[nodiscard]] bool is_local() const;
  [[nodiscard]] std::string text() const;  // as a user would write it

  // The URL by which a client reaches `path`, such as http://HOST:PORT/metrics. `scheme` is http or
  // https. A unix socket has no URL; for it this returns unix:/PATH.
  [[nodiscard]] std::string url(std::string_view path, std::string_view scheme = "http") const;
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// Whether this is an address of 127.0.0.0/8, ::1 or localhost. Other names are not looked up.
bool is_loopback_host(std::string_view host);

// Reads host:port, [v6]:port or unix:/absolute/path. The error is a fragment that starts with the
// quoted text.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace offcpud
