// SPDX-License-Identifier: Apache-2.0
#include "config/web_config.h"

#include <string_view>

#include "base/printable.h"
#include "config/config_files.h"
#include "config/web_config_keys.h"
#include "config/yaml_settings.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUsers = "basic_auth_users.";
constexpr std::string_view kTls = "tls_server_config";

// One file while it is read: knows where things stand in it.
class Reader {
 public:
  explicit Reader(const fs::path& file) : file_(file), origin_(printable(file.native())) {}

  Result<WebConfig> read(const std::string& text) {
    TRY(const auto settings, parse_yaml_settings(text, origin_));
    for (const YamlSetting& setting : settings) TRY_VOID(set(setting));
    if (draft_.tls) TRY_VOID(check_tls(*draft_.tls));
    if (users_line_ != 0 && draft_.users.empty()) {
      return refusal(users_line_, "basic_auth_users",
                     "names nobody; remove it to ask for no password");
    }
    return std::move(draft_);
  }

 private:
  [[nodiscard]] Error refusal(std::size_t line, std::string_view key,
                              const std::string& what) const {
    return Error(
        origin_ + ":" + std::to_string(line) + ": " + excerpt(std::string(key)) + ": " + what,
        ErrorKind::Configuration);
  }

  Status set(const YamlSetting& setting) {
    if (setting.key.starts_with(kTls)) {
      if (setting.key == kTls) tls_line_ = setting.line;
      if (setting.kind == YamlKind::Group && setting.key == kTls) draft_.tls.emplace();
      lines_[setting.key] = setting.line;
    }
    if (is_web_group(setting.key)) {
      if (setting.key + "." == kUsers) users_line_ = setting.line;
      if (setting.kind == YamlKind::Group) return {};
      // What is commented out as a whole would otherwise turn encryption or passwords off unseen.
      return refusal(setting.line, setting.key, "is not a map; use a map, or remove the key");
    }
    if (setting.key.starts_with(kUsers)) return set_user(setting);
    const WebKey* const key = find_web_key(setting.key);
    if (key == nullptr) {
      return refusal(setting.line, setting.key, "unknown key; the keys are " + web_key_names());
    }
    return set(setting, *key);
  }

  Status set(const YamlSetting& setting, const WebKey& key) {
    const auto refuse = [&](std::size_t line, const std::string& what) {
      return refusal(line, setting.key, what + "; use " + std::string(key.allowed));
    };
    std::vector<std::string> values;
    if (key.is_list && setting.kind == YamlKind::List) {
      for (const YamlItem& item : setting.items) {
        if (item.kind != YamlKind::Value)
          return refuse(item.line, "an entry is not a single value");
        values.push_back(item.value);
      }
    } else if (!key.is_list && setting.kind == YamlKind::Value) {
      values.push_back(setting.value);
    } else {
      return refuse(setting.line, key.is_list ? "is not a list" : "is not a single value");
    }
    for (const std::string& value : values) {
      if (find_text_defect(value) || value.find_first_of("\t\n\r") != std::string::npos) {
        return refuse(setting.line,
                      quotation(value) + " contains a control character or is not UTF-8");
      }
      if (const Status status = key.set(draft_, value); !status) {
        return refuse(setting.line, status.error().message());
      }
    }
    if (setting.key == "http_server_config.http2" && setting.value == "true") {
      draft_.warnings.push_back(origin_ + ":" + std::to_string(setting.line) +
                                ": http2: true has no effect: offcpud speaks HTTP/1.1 only");
    }
    return {};
  }

  // The name may have dots in it: it is all that follows the group.
  Status set_user(const YamlSetting& setting) {
    const std::string name = setting.key.substr(kUsers.size());
    const auto refuse = [&](const std::string& what) {
      return refusal(setting.line, setting.key, what);
    };
    if (setting.kind != YamlKind::Value) return refuse("is not a single value; use a bcrypt hash");
    if (name.find(':') != std::string::npos || find_text_defect(name)) {
      return refuse("no client can send a user name with a colon or a control character");
    }
    if (const Status status = check_bcrypt(setting.value); !status) {
      return refuse(status.error().message());
    }
    draft_.users[name] = setting.value;
    return {};
  }

  [[nodiscard]] std::size_t line_of(const char* key) const {
    const auto found = lines_.find(std::string(kTls) + "." + key);
    return found == lines_.end() ? tls_line_ : found->second;
  }

  Status check_tls(TlsSettings& tls) const {
    const auto refuse = [&](const char* key, const std::string& what) {
      return refusal(line_of(key), std::string(kTls) + "." + key, what);
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
      if (!path->empty()) *path = folder / *path;  // an absolute one stays
    }
    return {};
  }

  const fs::path& file_;
  std::string origin_;
  WebConfig draft_;
  std::size_t tls_line_ = 0;
  std::size_t users_line_ = 0;
  std::map<std::string, std::size_t> lines_;
};

constexpr std::string_view kRestoreOrTakeOut =
    "restore it, or remove web.config_file from the configuration to do without TLS and passwords";

}  // namespace

Result<WebConfig> load_web_config(const std::filesystem::path& file) {
  TRY(const auto text, read_config_file(file, kRestoreOrTakeOut));
  if (!text) {
    return Error(printable(file.native()) + " does not exist, and web.config_file names it",
                 ErrorKind::Configuration);
  }
  return Reader(file).read(*text);
}

}  // namespace offcpud
