// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/listen_address.h"

namespace offcpud {

// How a client reaches the daemon.
struct Server {
  ListenAddress address;
  bool tls = false;
  std::string ca_file = {};     // PEM; empty: the authorities of this host
  std::string cert_file = {};   // PEM, of the client; empty: none
  std::string key_file = {};    // of the certificate; empty: in the same file
  std::string netrc_file = {};  // user and password, netrc(5); empty: none

  friend bool operator==(const Server&, const Server&) = default;
};

// Accepts an address as parse_listen_address() does, and also http:// or https:// with host and
// port. The error is a fragment.
Result<Server> parse_server(std::string_view text);

}  // namespace offcpud
