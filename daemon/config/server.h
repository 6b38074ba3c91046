// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/listen_address.h"

namespace offcpud {

// The daemon as a client finds it.
struct Server {
  ListenAddress address;
  bool tls = false;
  std::string ca_file = {};     // PEM; empty: the authorities of this host
  std::string cert_file = {};   // PEM, of the client; empty: none
  std::string key_file = {};    // of it; empty: in the same file
  std::string netrc_file = {};  // user and password, netrc(5); empty: none

  friend bool operator==(const Server&, const Server&) = default;
};

// Reads what parse_listen_address does, and http:// or https:// before host and port. The error is
// a fragment.
Result<Server> parse_server(std::string_view text);

}  // namespace offcpud
