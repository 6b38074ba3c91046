// SPDX-License-Identifier: Apache-2.0
#include "config/web_config.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "base/printable.h"
#include "config/config_files.h"
#include "config/web_config_keys.h"
#include "config/yaml_settings.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsers = "basic_auth_users";
constexpr std::string_view kTls = "tls_server_config";

// Keys that hold a certificate or key inline. Refused: this server reads them only from the files
// that cert_file, key_file and client_ca_file name.
constexpr std::array<std::string_view, 3> kInline = {"cert", "key", "client_ca"};

// The part of `key` below `group`: "cert_file" for "tls_server_config.cert_file".
std::optional<std::string_view> below(std::string_view group, std::string_view key) {
  const bool is_below =
      key.size() > group.size() && key.starts_with(group) && key[group.size()] == '.';
  return is_below ? std::optional(key.substr(group.size() + 1)) : std::nullopt;
}

// Reads one file and remembers the line of each key.
class Reader {
 public:
  explicit Reader(const fs::path& file) : file_(file), origin_(printable(file.native())) {}

  Result<WebConfig> read(const std::string& text) {
    TRY(const auto settings, parse_yaml_settings(text, origin_));
    for (const YamlSetting& setting : settings) TRY_VOID(set(setting));
    if (config_.tls) TRY_VOID(check_tls(*config_.tls));
    if (lines_.contains(kUsers) && config_.users.empty()) {
      return position_of(kUsers).refusal("names nobody; remove it to ask for no password");
    }
    if (config_.http2) {
      config_.warnings.push_back(origin_ + ":" +
                                 std::to_string(position_of("http_server_config.http2").line) +
                                 ": http2: true has no effect: offcpud speaks HTTP/1.1 only");
    }
    return std::move(config_);
  }

 private:
  // Where the key is or, if it is missing, where the TLS settings are.
  [[nodiscard]] Position position_of(std::string_view key) const {
    const auto found = lines_.find(key);
    return {origin_, (found == lines_.end() ? lines_.find(kTls) : found)->second, excerpt(key)};
  }

  Status set(const YamlSetting& node) {
    lines_[node.key] = node.line;
    const Position position{origin_, node.line, excerpt(node.key)};
    const auto of_tls = below(kTls, node.key);
    if (!config_.tls && (of_tls || node.key == kTls)) {
      lines_.try_emplace(std::string(kTls), node.line);
      config_.tls.emplace();
    }
    if (node.key == kUsers || is_group(web_keys(), node.key)) {
      if (node.kind == YamlKind::Group) return {};
      // Otherwise commenting out all keys of the map would silently turn off TLS or passwords.
      return position.refusal("is not a map; use a map, or remove the key");
    }
    if (const auto name = below(kUsers, node.key))
      return set_user(std::string(*name), node, position);
    if (of_tls && std::ranges::find(kInline, *of_tls) != kInline.end()) {
      return position.refusal("is not supported; use " + std::string(*of_tls) + "_file");
    }
    const Setting<WebConfig>* const key = find_setting(web_keys(), node.key);
    if (key == nullptr) {
      return position.refusal("unknown key; the keys are " + enumeration(names_of(web_keys())) +
                              ", basic_auth_users.NAME");
    }
    return set_from_yaml(config_, *key, node, position);
  }

  // The name is all that follows the group, and may contain dots.
  Status set_user(const std::string& name, const YamlSetting& node, const Position& position) {
    if (node.kind != YamlKind::Value) {
      return position.refusal("is not a single value; use a bcrypt hash");
    }
    if (name.find(':') != std::string::npos || find_text_defect(name)) {
      return position.refusal("no client can send a user name with a colon or a control character");
    }
    if (const Status status = check_bcrypt(node.value); !status) {
      return position.refusal(status.error().message());
    }
    config_.users[name] = node.value;
    return {};
  }

  Status check_tls(TlsSettings& tls) const {
    const auto refuse = [&](const char* key, const std::string& what) {
      return position_of(std::string(kTls) + "." + key).refusal(what);
    };
    if (tls.cert_file.empty()) return refuse("cert_file", "is missing; TLS needs a certificate");
    if (tls.key_file.empty()) return refuse("key_file", "is missing; TLS needs a private key");
    if (tls.min_version > tls.max_version) {
      return refuse("min_version",
                    "is higher than max_version; lower the first or raise the second");
    }
    const bool verifies = tls.client_auth == ClientAuth::VerifyClientCertIfGiven ||
                          tls.client_auth == ClientAuth::RequireAndVerifyClientCert;
    if (verifies && tls.client_ca_file.empty()) {
      return refuse("client_ca_file", "is missing; client_auth_type needs it to verify with");
    }
    if (!verifies && !tls.client_ca_file.empty()) {
      return refuse("client_ca_file",
                    "has no effect without a client_auth_type that verifies; use "
                    "RequireAndVerifyClientCert");
    }
    const bool required = tls.client_auth == ClientAuth::RequireAnyClientCert ||
                          tls.client_auth == ClientAuth::RequireAndVerifyClientCert;
    if (!required && !tls.client_allowed_sans.empty()) {
      return refuse("client_allowed_sans",
                    "would let clients without a certificate in; use it with client_auth_type "
                    "RequireAndVerifyClientCert");
    }
    if (const Status status = check_cipher_suites(tls.cipher_suites); !status) {
      return refuse("cipher_suites", status.error().message());
    }
    const fs::path folder = file_.parent_path();
    for (fs::path* path : {&tls.cert_file, &tls.key_file, &tls.client_ca_file}) {
      if (!path->empty()) *path = folder / *path;  // does not change absolute paths
    }
    return {};
  }

  const fs::path& file_;
  std::string origin_;
  WebConfig config_;
  std::map<std::string, std::size_t, std::less<>> lines_;  // by key
};

}  // namespace

Result<WebConfig> load_web_config(const std::filesystem::path& file) {
  TRY(const auto text, read_config_file(file, kRestoreWebConfig));
  if (!text) {
    return Error(printable(file.native()) + " does not exist, and web.config_file names it",
                 ErrorKind::Configuration);
  }
  return Reader(file).read(*text);
}

}  // namespace offcpud
