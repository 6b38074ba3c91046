// SPDX-License-Identifier: Apache-2.0
#include "config/web_config_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "base/printable.h"
#include "config/duration.h"

namespace offcpud {
namespace {

// Suites with forward secrecy and authenticated encryption, RFC 5289 and RFC 7905.
constexpr std::array kSuites = {
    CipherSuite{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA", "AES-256-GCM"},
    CipherSuite{"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA", "AES-128-GCM"},
    CipherSuite{"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA",
                "CHACHA20-POLY1305"},
    CipherSuite{"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA", "AES-256-GCM"},
    CipherSuite{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA", "AES-128-GCM"},
    CipherSuite{"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA", "CHACHA20-POLY1305"},
};

constexpr std::string_view kSuiteNames =
    "TLS_ECDHE_{ECDSA,RSA}_WITH_{AES_128_GCM_SHA256,AES_256_GCM_SHA384,CHACHA20_POLY1305_SHA256}; "
    "suites of TLS 1.3 cannot be chosen";

constexpr std::array<std::string_view, 5> kClientAuths = {
    "NoClientCert", "RequestClientCert", "RequireAnyClientCert", "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert"};
constexpr std::array<std::string_view, 4> kCurves = {"CurveP256", "CurveP384", "CurveP521",
                                                     "X25519"};

Error refusal(std::string_view value, const char* why) {
  return Error(quotation(value) + " " + why, ErrorKind::Configuration);
}

Status set_path(std::filesystem::path& path, const std::string& value) {
  if (value.empty()) return refusal(value, "names no file");
  path = value;
  return {};
}

// RFC 8996 forbids the versions below.
Status set_version(std::string& version, const std::string& value) {
  if (value != "TLS12" && value != "TLS13") return refusal(value, "is not supported");
  version = value;
  return {};
}

Status set_switch(bool& target, const std::string& value) {
  if (value != "true" && value != "false") return refusal(value, "is not known");
  target = value == "true";
  return {};
}

// The group has come before its members, so `tls` is there.
template <std::filesystem::path TlsSettings::*Member>
Status set_tls_path(WebConfig& config, const std::string& value) {
  return set_path((*config.tls).*Member, value);
}
template <std::string TlsSettings::*Member>
Status set_tls_version(WebConfig& config, const std::string& value) {
  return set_version((*config.tls).*Member, value);
}

Status refuse_inline(WebConfig& /*config*/, const std::string& /*value*/) {
  return Error("is not supported", ErrorKind::Configuration);
}

Status set_client_auth(WebConfig& config, const std::string& value) {
  const auto* const found = std::find(kClientAuths.begin(), kClientAuths.end(), value);
  if (found == kClientAuths.end()) return refusal(value, "is not known");
  config.tls->client_auth = static_cast<ClientAuth>(found - kClientAuths.begin());
  return {};
}

Status add_name(WebConfig& config, const std::string& value) {
  if (value.empty()) return refusal(value, "is no name");
  config.tls->client_allowed_sans.push_back(value);
  return {};
}

Status add_suite(WebConfig& config, const std::string& value) {
  if (find_cipher_suite(value) == nullptr) return refusal(value, "is not supported");
  config.tls->cipher_suites.push_back(value);
  return {};
}

Status add_curve(WebConfig& config, const std::string& value) {
  if (std::find(kCurves.begin(), kCurves.end(), value) == kCurves.end()) {
    return refusal(value, "is not supported");
  }
  config.tls->curve_preferences.push_back(value);
  return {};
}

Status set_http2(WebConfig& /*config*/, const std::string& value) {
  bool ignored = false;
  return set_switch(ignored, value);
}

template <std::size_t N>
Status set_header(WebConfig& config, const char (&name)[N], const std::string& value,
                  std::initializer_list<std::string_view> choices) {
  if (!value.empty() && choices.size() > 0 &&
      std::find(choices.begin(), choices.end(), value) == choices.end()) {
    return refusal(value, "is not known");
  }
  config.headers.emplace_back(name, value);
  return {};
}

Status set_interval(WebConfig& config, const std::string& value) {
  if (value == "0") return {};
  TRY(config.rate_limit.interval, parse_duration(value));
  return {};
}

Status set_burst(WebConfig& config, const std::string& value) {
  constexpr unsigned kMost = 1'000'000;
  unsigned number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, code] = std::from_chars(value.data(), end, number);
  if (code != std::errc{} || stop != end || number == 0 || number > kMost) {
    return refusal(value, "is out of range");
  }
  config.rate_limit.burst = number;
  return {};
}

constexpr std::string_view kFile = "the name of a file; a relative one is looked for beside this";
constexpr std::string_view kVersion = "TLS12 or TLS13";
constexpr std::string_view kText = "one line of text, or \"\" for none";

constexpr std::array kKeys = {
    WebKey{"tls_server_config.cert_file", false, &set_tls_path<&TlsSettings::cert_file>, kFile},
    WebKey{"tls_server_config.key_file", false, &set_tls_path<&TlsSettings::key_file>, kFile},
    WebKey{"tls_server_config.cert", false, &refuse_inline, "cert_file"},
    WebKey{"tls_server_config.key", false, &refuse_inline, "key_file"},
    WebKey{"tls_server_config.client_ca", false, &refuse_inline, "client_ca_file"},
    WebKey{"tls_server_config.client_auth_type", false, &set_client_auth,
           "NoClientCert, RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven or "
           "RequireAndVerifyClientCert"},
    WebKey{"tls_server_config.client_ca_file", false, &set_tls_path<&TlsSettings::client_ca_file>,
           kFile},
    WebKey{"tls_server_config.client_allowed_sans", true, &add_name,
           "a list of DNS names, IP addresses, e-mail addresses and URIs"},
    WebKey{"tls_server_config.min_version", false, &set_tls_version<&TlsSettings::min_version>,
           kVersion},
    WebKey{"tls_server_config.max_version", false, &set_tls_version<&TlsSettings::max_version>,
           kVersion},
    WebKey{"tls_server_config.cipher_suites", true, &add_suite, kSuiteNames},
    WebKey{"tls_server_config.prefer_server_cipher_suites", false,
           [](WebConfig& config, const std::string& value) {
             return set_switch(config.tls->prefer_server_cipher_suites, value);
           },
           "true or false"},
    WebKey{"tls_server_config.curve_preferences", true, &add_curve,
           "CurveP256, CurveP384, CurveP521 and X25519"},
    WebKey{"http_server_config.http2", false, &set_http2, "true or false"},
    WebKey{"http_server_config.headers.Content-Security-Policy", false,
           [](WebConfig& config, const std::string& value) {
             return set_header(config, "Content-Security-Policy", value, {});
           },
           kText},
    WebKey{"http_server_config.headers.X-Frame-Options", false,
           [](WebConfig& config, const std::string& value) {
             return set_header(config, "X-Frame-Options", value, {"deny", "sameorigin"});
           },
           "deny or sameorigin"},
    WebKey{"http_server_config.headers.X-Content-Type-Options", false,
           [](WebConfig& config, const std::string& value) {
             return set_header(config, "X-Content-Type-Options", value, {"nosniff"});
           },
           "nosniff"},
    WebKey{"http_server_config.headers.X-XSS-Protection", false,
           [](WebConfig& config, const std::string& value) {
             return set_header(config, "X-XSS-Protection", value, {});
           },
           kText},
    WebKey{"http_server_config.headers.Strict-Transport-Security", false,
           [](WebConfig& config, const std::string& value) {
             return set_header(config, "Strict-Transport-Security", value, {});
           },
           kText},
    WebKey{"rate_limit.interval", false, &set_interval,
           "a duration such as 100ms, 1s, 1min, or 0 for no limit"},
    WebKey{"rate_limit.burst", false, &set_burst, "a whole number from 1 to 1000000"},
};

constexpr std::array<std::string_view, 5> kGroups = {"tls_server_config", "http_server_config",
                                                     "http_server_config.headers",
                                                     "basic_auth_users", "rate_limit"};

template <class List, class Value>
bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

const WebKey* find_web_key(std::string_view name) {
  const auto* const found =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const WebKey& key) { return key.name == name; });
  return found == kKeys.end() ? nullptr : found;
}

bool is_web_group(std::string_view name) {
  return contains(kGroups, name);
}

std::string web_key_names() {
  std::string names;
  for (const WebKey& key : kKeys) {
    if (key.set != &refuse_inline) names.append(key.name).append(", ");
  }
  return names + "basic_auth_users.NAME";
}

Status check_bcrypt(std::string_view hash) {
  constexpr std::size_t kLength = 60;  // $2y$NN$ and 53 characters of salt and hash
  constexpr int kDearest = 13;         // takes 0.4 s of a CPU, which a stop may have to wait for
  constexpr std::string_view kBase64 =
      "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const bool prefixed =
      hash.starts_with("$2a$") || hash.starts_with("$2b$") || hash.starts_with("$2y$");
  int cost = 0;
  if (hash.size() == kLength) std::from_chars(hash.data() + 4, hash.data() + 6, cost);
  // The text itself stays out of the message: somebody may have put the password there.
  if (!prefixed || hash.size() != kLength || cost < 4 || hash[6] != '$' ||
      hash.find_first_not_of(kBase64, 7) != std::string_view::npos) {
    return Error("is no bcrypt hash; use what 'htpasswd -nBC 10 \"\"' prints behind the colon",
                 ErrorKind::Configuration);
  }
  if (cost > kDearest) {
    return Error("has cost " + std::to_string(cost) +
                     ", which takes too long for each try; use a cost of 4 to " +
                     std::to_string(kDearest) + ", such as 10",
                 ErrorKind::Configuration);
  }
  return {};
}

Status check_cipher_suites(const std::vector<std::string>& suites) {
  std::vector<std::string_view> exchanges;
  std::vector<std::string_view> ciphers;
  for (const std::string& name : suites) {
    const CipherSuite* const suite = find_cipher_suite(name);
    exchanges.push_back(suite->key_exchange);
    ciphers.push_back(suite->cipher);
  }
  for (const CipherSuite& suite : kSuites) {
    if (contains(exchanges, suite.key_exchange) && contains(ciphers, suite.cipher) &&
        !contains(suites, suite.name)) {
      return Error("cannot leave out " + std::string(suite.name) +
                       " with the others in the list; add it, or keep to one of ECDSA and RSA",
                   ErrorKind::Configuration);
    }
  }
  return {};
}

const CipherSuite* find_cipher_suite(std::string_view name) {
  const auto* const found = std::find_if(kSuites.begin(), kSuites.end(),
                                         [&](const CipherSuite& s) { return s.name == name; });
  return found == kSuites.end() ? nullptr : found;
}

}  // namespace offcpud
