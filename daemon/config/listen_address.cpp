// SPDX-License-Identifier: Apache-2.0
#include "config/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

#include "base/text.h"
#include "config/refusal.h"

namespace offcpud {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::size_t kLongestUnixPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t kLongestHost = 253;  // RFC 1035

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, port);
  if (text.empty() || code != std::errc{} || stop != end) return std::nullopt;
  return port;
}

bool is_host_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '_';
}

bool is_ip_address(int family, const std::string& host) {
  in6_addr address{};  // large enough for both families
  // inet_pton() would not see what follows a NUL.
  return host.find('\0') == std::string::npos && ::inet_pton(family, host.c_str(), &address) == 1;
}

// What is wrong with the host; empty: nothing.
std::string host_problem(const std::string& host) {
  if (host.empty()) return "has no host: use 127.0.0.1 for this machine, 0.0.0.0 for all of IPv4";
  if (host.find(':') != std::string::npos) return "has an IPv6 address without brackets";
  if (host.size() > kLongestHost || !std::all_of(host.begin(), host.end(), is_host_character)) {
    return "has no valid host name";
  }
  // Otherwise 10.0.0.256 would count as a name, and fail only when the socket is bound.
  const bool numeric =
      std::all_of(host.begin(), host.end(), [](char c) { return is_digit(c) || c == '.'; });
  if (numeric && !is_ip_address(AF_INET, host)) return "has no valid IPv4 address";
  return {};
}

Result<ListenAddress> parse_unix(std::string_view text) {
  const std::string_view path = text.substr(kUnixPrefix.size());
  if (path.empty() || path.front() != '/') return refusal(text, "has no absolute path");
  if (path.back() == '/') return refusal(text, "names a directory");
  if (path.size() > kLongestUnixPath) {
    return refusal(text, "has a path longer than the " + std::to_string(kLongestUnixPath) +
                             " bytes of a socket address");
  }
  return ListenAddress{.host = {}, .port = 0, .unix_path = std::string(path)};
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  const std::string text(host);
  if (text == "localhost" || text == "ip6-localhost") return true;
  if (is_ip_address(AF_INET, text)) return host.starts_with("127.");
  in6_addr address{};
  return ::inet_pton(AF_INET6, text.c_str(), &address) == 1 && IN6_IS_ADDR_LOOPBACK(&address);
}

bool ListenAddress::is_local() const {
  return is_unix() || is_loopback_host(host);
}

std::string ListenAddress::text() const {
  if (is_unix()) return std::string(kUnixPrefix) + unix_path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string ListenAddress::url(std::string_view path, std::string_view scheme) const {
  return is_unix() ? text() : std::string(scheme) + "://" + text() + std::string(path);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  if (text.starts_with(kUnixPrefix)) return parse_unix(text);
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == std::string_view::npos) return refusal(text, "has no closing bracket");
  const std::size_t colon = bracket > 0 ? bracket + 1 : text.rfind(':');
  if (colon >= text.size() || text[colon] != ':') return refusal(text, "has no port");
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return refusal(text, "has no valid port");

  std::string host(text.substr(0, colon));
  if (bracket > 0) {
    host = host.substr(1, bracket - 1);
    if (!is_ip_address(AF_INET6, host)) return refusal(text, "has no valid IPv6 address");
  } else if (const std::string problem = host_problem(host); !problem.empty()) {
    return refusal(text, problem);
  }
  return ListenAddress{.host = std::move(host), .port = *port, .unix_path = {}};
}

}  // namespace offcpud
