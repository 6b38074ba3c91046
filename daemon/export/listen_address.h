// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Where to listen: a TCP host and port, or the path of a unix socket.
struct ListenAddress {
  std::string host;  // without brackets; empty: every address of this host
  std::uint16_t port = 0;
  std::string path;  // not empty: a unix socket

  [[nodiscard]] bool is_unix() const { return !path.empty(); }

  // As the user would write it.
  [[nodiscard]] std::string text() const;
};

// `host:port`, `[v6]:port`, `:port` or `unix:PATH`. Pure; names are not resolved.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace offcpud
