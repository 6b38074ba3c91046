// SPDX-License-Identifier: Apache-2.0
#include "push/push_target.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file_io.h"
#include "config/push_keys.h"

namespace offcpud {
namespace {

constexpr std::size_t kLongestSecret = 4096;
constexpr std::size_t kMostCertificates = std::size_t{4} << 20U;  // bytes

bool is_unreserved(char c) {
  constexpr std::string_view kOthers = "-._~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kDigits[byte >> 4U], kDigits[byte & 0xfU]};
  }
  return out;
}

std::string series_of(const Config::Push& push, std::string_view host) {
  const bool named = std::ranges::any_of(
      push.labels, [](const std::string& label) { return label.starts_with("instance="); });
  const std::string instance = "instance=" + std::string(host);
  std::string labels = !named && check_push_label(instance) ? instance : "";
  for (const std::string& label : push.labels) labels += (labels.empty() ? "" : ",") + label;
  return push.application + "{" + labels + "}";
}

std::string unix_seconds(WallTime time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
}

}  // namespace

std::optional<PushTarget> push_target(const Config::Push& push, std::string_view host) {
  if (push.url.empty()) return std::nullopt;
  std::string url = push.url;
  while (url.ends_with('/')) url.pop_back();
  return PushTarget{.url = url + "/ingest",
                    .series = series_of(push, host),
                    .tenant = push.tenant,
                    .username = push.username,
                    .password_file = push.password_file,
                    .token_file = push.token_file,
                    .ca_file = push.ca_file,
                    .timeout = push.timeout};
}

std::string own_host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  return name.data();
}

Status check_push_files(const Config::Push& push) {
  const auto refusal = [](const char* key, const Error& error) {
    return Error(std::string(key) + ": " + error.message(), ErrorKind::Configuration);
  };
  if (push.url.empty()) return {};
  if (!push.password_file.empty()) {
    const auto secret = read_secret(push.password_file);
    if (!secret) return refusal("push.password_file", secret.error());
  }
  if (!push.token_file.empty()) {
    const auto secret = read_secret(push.token_file);
    if (!secret) return refusal("push.token_file", secret.error());
  }
  if (!push.ca_file.empty()) {
    const auto certificates = read_file(push.ca_file, kMostCertificates);
    if (!certificates) return refusal("push.ca_file", certificates.error());
    if (certificates->find("-----BEGIN ") == std::string::npos) {
      return refusal("push.ca_file", Error("'" + push.ca_file + "' holds no certificate in PEM"));
    }
  }
  return {};
}

Result<std::string> read_secret(const std::string& file) {
  TRY(auto text, read_file(file, kLongestSecret));
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  const bool clean = std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (text.empty() || !clean) {
    return Error("'" + file + "' is empty or holds more than one line of text",
                 ErrorKind::Configuration);
  }
  return text;
}

std::string ingest_url(const PushTarget& target, WallTime begin, WallTime end) {
  return target.url + "?name=" + percent_encoded(target.series) + "&from=" + unix_seconds(begin) +
         "&until=" + unix_seconds(end) + "&spyName=offcpud";
}

}  // namespace offcpud
