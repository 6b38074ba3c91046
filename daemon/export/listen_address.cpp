// SPDX-License-Identifier: Apache-2.0
#include "export/listen_address.h"

#include <sys/un.h>

#include <charconv>
#include <cstddef>
#include <system_error>

namespace offcpud {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::size_t kMaxUnixPath = sizeof(sockaddr_un{}.sun_path) - 1;

Error invalid(std::string_view text, const std::string& what) {
  return Error("listen address '" + std::string(text) + "': " + what, ErrorKind::Configuration);
}

Result<ListenAddress> parse_unix(std::string_view text) {
  ListenAddress address;
  address.path = text.substr(kUnixPrefix.size());
  if (!address.path.starts_with('/'))
    return invalid(text, "the path after 'unix:' must be absolute");
  if (address.path.size() > kMaxUnixPath) {
    return invalid(text, "a socket path has at most " + std::to_string(kMaxUnixPath) + " bytes");
  }
  if (address.path.find('\0') != std::string::npos) {
    return invalid(text, "a path cannot contain a NUL byte");
  }
  return address;
}

}  // namespace

std::string ListenAddress::text() const {
  if (is_unix()) return std::string(kUnixPrefix) + path;
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  if (text.starts_with(kUnixPrefix)) return parse_unix(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return invalid(text, "expected host:port, [v6]:port or unix:PATH");
  }
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    if (!host.ends_with(']')) return invalid(text, "expected [v6]:port");
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) {
      return invalid(text, "only an IPv6 address belongs in brackets");
    }
  } else if (host.find_first_of(":]") != std::string_view::npos) {
    return invalid(text, "an IPv6 address must be in brackets, [v6]:port");
  }
  const std::string_view digits = text.substr(colon + 1);
  const char* end = digits.data() + digits.size();
  ListenAddress address;
  const auto parsed = std::from_chars(digits.data(), end, address.port);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    return invalid(text, "the port must be a number from 0 to 65535");
  }
  address.host = host;
  if (address.host.find('\0') != std::string::npos) {
    return invalid(text, "a host cannot contain a NUL byte");
  }
  return address;
}

}  // namespace offcpud
