// SPDX-License-Identifier: Apache-2.0
#include "config/push_keys.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>

#include "base/printable.h"
#include "config/refusal.h"

namespace offcpud {
namespace {

constexpr std::string_view kAlphanumeric =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::size_t kLongestUrl = 1024;
constexpr std::size_t kLongestTenant = 150;  // as limited by Grafana's servers
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestValue = 256;

bool consists_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return kAlphanumeric.find(c) != std::string_view::npos ||
           others.find(c) != std::string_view::npos;
  });
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  return code == std::errc{} && stop == text.data() + text.size() && port != 0;
}

// Accepts host, host:port, [v6] and [v6]:port.
bool is_host_and_port(std::string_view text) {
  std::string_view host = text.substr(0, text.find(':'));
  std::string_view allowed = "-._";
  if (text.starts_with('[')) {
    host = text.substr(0, std::min(text.size(), text.find(']') + 1));
    if (!host.ends_with(']') || host.size() < 4) return false;
    allowed = "[]:.";
  }
  const std::string_view rest = text.substr(host.size());
  const bool port = rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1)));
  return !host.empty() && consists_of(host, allowed) && port;
}

std::string_view name_of_label(std::string_view label) {
  return label.substr(0, label.find('='));
}

}  // namespace

// Errors repeat nothing of the URL: a wrong one may hold a password or token anywhere.
Status check_push_url(std::string_view text) {
  const auto refused = [](const char* why) { return Error(why, ErrorKind::Configuration); };
  if (text.empty()) return {};
  const std::size_t scheme = text.find("://");
  const std::string_view name = text.substr(0, scheme);
  if (scheme == std::string_view::npos || (name != "http" && name != "https")) {
    return refused("does not begin with http:// or https://");
  }
  const std::string_view rest = text.substr(scheme + 3);
  const std::string_view host = rest.substr(0, rest.find_first_of("/?#"));
  // Refuses "@" anywhere: in "https://alice:7/x@host" only the "@" shows that there is a password.
  if (rest.find('@') != std::string_view::npos) {
    return refused(
        "has a \"@\", as of a user before the host, whom logs would show; set push.username and "
        "push.password_file instead");
  }
  if (text.find_first_of("?#") != std::string_view::npos) {
    return refused("has a query or fragment; only a path may follow the host");
  }
  if (!is_host_and_port(host)) return refused("has no valid host and port");
  if (!consists_of(rest.substr(host.size()), "/-._~%!$&'()*+,;=:") || text.size() > kLongestUrl) {
    return refused("is too long, or has characters that are not written so in a URL");
  }
  return {};
}

Status check_push_tenant(std::string_view text) {
  if (consists_of(text, "!-_.*'()") && text.size() <= kLongestTenant) return {};
  return refusal(text, "is not the name of a tenant");
}

Status check_push_application(std::string_view text) {
  if (!text.empty() && consists_of(text, "-_./") && text.size() <= kLongestName) return {};
  return refusal(text, "is not the name of an application");
}

Status check_push_username(std::string_view text) {
  if (text.find(':') == std::string_view::npos && !find_text_defect(text) &&
      text.find_first_of("\t\r\n") == std::string_view::npos && text.size() <= kLongestValue) {
    return {};
  }
  return refusal(text, "is not the name of a user");
}

Status check_push_label(std::string_view text) {
  const std::string_view name = name_of_label(text);
  if (name.size() == text.size()) return refusal(text, "is not written name=value");
  const bool known = !name.empty() && consists_of(name, "_") && name.size() <= kLongestName &&
                     !(name.front() >= '0' && name.front() <= '9');
  if (!known) return refusal(text, "has no valid label name: letters, digits and _");
  if (name.starts_with("__") || name == "service_name" || name == "profile_id") {
    return refusal(text, "has a label name that Pyroscope uses itself");
  }
  const std::string_view value = text.substr(name.size() + 1);
  if (value.empty() || value.size() > kLongestValue || value.front() == ' ' ||
      value.back() == ' ' || find_text_defect(value) ||
      value.find_first_of(",{}\t\r\n") != std::string_view::npos) {
    return refusal(text,
                   "has a value that is empty, too long, or has one of , { } or spaces at an "
                   "end, which Pyroscope cannot read back");
  }
  return {};
}

std::optional<Conflict> find_push_conflict(const Config& config) {
  const Config::Push& push = config.push;
  std::set<std::string_view> names;
  for (const std::string& label : push.labels) {
    if (names.insert(name_of_label(label)).second) continue;
    return Conflict{"push.labels", "push.labels",
                    "two entries name the label " + quotation(name_of_label(label))};
  }
  if (!push.token_file.empty() && !push.username.empty()) {
    return Conflict{"push.token_file", "push.username",
                    "a bearer token and basic authentication exclude each other; leave out "
                    "push.token_file, or push.username and push.password_file"};
  }
  if (push.username.empty() != push.password_file.empty()) {
    return Conflict{"push.username", "push.password_file",
                    "push.username and push.password_file belong together; set both or neither"};
  }
  if (!push.ca_file.empty() && push.url.starts_with("http://")) {
    return Conflict{"push.ca_file", "push.url",
                    "push.ca_file is of no use without TLS; begin push.url with https://"};
  }
  if (!push.url.empty() && !config.snapshots.enabled) {
    return Conflict{
        "push.url", "snapshots.enabled",
        "there is nothing to send when snapshots.enabled is false; turn snapshots on, or "
        "leave push.url empty"};
  }
  return std::nullopt;
}

}  // namespace offcpud
