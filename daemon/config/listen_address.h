// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Where the daemon listens, and where offcpuctl finds it.
struct ListenAddress {
  std::string host;        // name, IPv4 address, or IPv6 address without brackets
  std::uint16_t port = 0;  // 0: any free port
  std::string unix_path;   // absolute; when set, host and port mean nothing

  [[nodiscard]] bool is_unix() const { return !unix_path.empty(); }
  [[nodiscard]] std::string text() const;  // as a user would write it

  // What a client is given to reach `path` ("/metrics"): http://HOST:PORT/metrics. A Unix socket
  // has no URL, so that is unix:/PATH. `scheme` is http or https.
  [[nodiscard]] std::string url(std::string_view path, std::string_view scheme = "http") const;
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// Reads host:port, [v6]:port or unix:/absolute/path. The error is a fragment that starts with the
// quoted text.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace offcpud
