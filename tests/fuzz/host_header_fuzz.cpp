// SPDX-License-Identifier: Apache-2.0
// The header Host: names of others never pass for this host's.
#include <arpa/inet.h>

#include "fuzz.h"
#include "http/host_names.h"

namespace offcpud::fuzz {
namespace {

bool is_address(const std::string& host) {
  if (host.find('\0') != std::string::npos) return false;
  in6_addr address{};
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets)
    return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1;
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

}  // namespace

void test(std::string_view input) {
  const std::string host = host_of(input);
  require(host.size() <= input.size(), "a host is a part of the header");
  for (const char c : host) require(c < 'A' || c > 'Z', "in lower case");
  const std::vector<std::string> names = {"web1", "web1.example.org"};
  const bool own = is_own_host(input, names);
  if (input.empty()) return require(own, "who is no browser leaves it out");
  const bool expected = host == "localhost" || host.ends_with(".localhost") || host == "web1" ||
                        host == "web1.example.org" || is_address(host);
  require(own == expected, "nothing else is this host");
  // What a page of another site is called cannot end in a label of its own and be accepted.
  require(!is_own_host(std::string(host.substr(0, host.find_first_of(std::string("\0:", 2)))) +
                           ".evil.example",
                       names),
          "a name below another domain is another host");
}

std::vector<std::string> seeds() {
  return {"localhost:19435",
          "LOCALHOST.",
          "[::1]:80",
          "127.0.0.1",
          "web1.example.org:443",
          "evil.example:80",
          "a.localhost",
          "[::1",
          "::1",
          "1.2.3.4.evil",
          "web1:"};
}

}  // namespace offcpud::fuzz
