// SPDX-License-Identifier: Apache-2.0
// Where to listen, and where offcpuctl finds the daemon.
#include "config/listen_address.h"
#include "config/server.h"
#include "fuzz.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const auto address = parse_listen_address(input);
  if (address) {
    const auto again = parse_listen_address(address->text());
    require(again && *again == *address, "an address is read as it is written");
    require(address->is_unix() ? address->unix_path.starts_with('/') : !address->host.empty(),
            "it is a path or a host");
    require(address->is_unix() || is_printable(address->url("/metrics")), "its URL is text");
  } else {
    require(is_printable(address.error().message()), "an error is one line");
  }
  const auto server = parse_server(input);
  if (!server) return require(is_printable(server.error().message()), "so is one of offcpuctl");
  const auto again = parse_listen_address(server->address.text());
  require(again && *again == server->address, "a server has an address");
}

std::vector<std::string> seeds() {
  return {"127.0.0.1:19435",     "[::1]:80",      "unix:/run/offcpud.sock",
          "localhost:0",         "0.0.0.0:65536", "https://web1.example.org:443/",
          "http://[fe80::1]:80", "10.0.0.256:1",  "[::1%lo]:1"};
}

}  // namespace offcpud::fuzz
