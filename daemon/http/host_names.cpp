// SPDX-License-Identifier: Apache-2.0
#include "http/host_names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/utsname.h>

#include <algorithm>

namespace offcpud {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_ip_address(const std::string& host) {
  if (host.find('\0') != std::string::npos) return false;  // inet_pton would stop there
  in6_addr address{};                                      // large enough for both families
  if (!host.starts_with('[')) return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
  if (!host.ends_with(']')) return false;
  return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1;
}

}  // namespace

std::string host_of(std::string_view header) {
  const std::size_t bracket = header.starts_with('[') ? header.find(']') : std::string_view::npos;
  const std::size_t colon = header.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string host = lower(header.substr(0, colon));
  if (host.ends_with('.')) host.pop_back();
  return host;
}

bool is_own_host(std::string_view header, const std::vector<std::string>& names) {
  if (header.empty()) return true;
  const std::string host = host_of(header);
  return is_ip_address(host) || host == "localhost" || host.ends_with(".localhost") ||
         std::find(names.begin(), names.end(), host) != names.end();
}

std::vector<std::string> own_host_names() {
  utsname system{};
  if (::uname(&system) != 0) return {};
  const std::string name = lower(system.nodename);
  return {name, name.substr(0, name.find('.'))};
}

}  // namespace offcpud
