// SPDX-License-Identifier: Apache-2.0
#include "config/web_config_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "config/duration.h"
#include "config/lists.h"
#include "config/refusal.h"

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

constexpr const char* kSuiteNames =
    "TLS_ECDHE_{ECDSA,RSA}_WITH_{AES_128_GCM_SHA256,AES_256_GCM_SHA384,CHACHA20_POLY1305_SHA256}; "
    "suites of TLS 1.3 cannot be chosen";

constexpr const char* kFile = "the name of a file; a relative one is looked for beside this";

Status check_some(std::string_view text) {
  if (text.empty()) return refusal(text, "is empty");
  return {};
}

Status check_suite(std::string_view text) {
  if (find_cipher_suite(text) == nullptr) return refusal(text, "is not supported");
  return {};
}

// RFC 8996 forbids earlier versions.
Notation<std::string> version() {
  return one_of({"TLS12", "TLS13"}, "TLS12 or TLS13", "is not supported");
}

Notation<ClientAuth> client_auth() {
  return choice<ClientAuth>(
      {{"NoClientCert", ClientAuth::NoClientCert},
       {"RequestClientCert", ClientAuth::RequestClientCert},
       {"RequireAnyClientCert", ClientAuth::RequireAnyClientCert},
       {"VerifyClientCertIfGiven", ClientAuth::VerifyClientCertIfGiven},
       {"RequireAndVerifyClientCert", ClientAuth::RequireAndVerifyClientCert}},
      "NoClientCert, RequestClientCert, RequireAnyClientCert, VerifyClientCertIfGiven or "
      "RequireAndVerifyClientCert");
}

Notation<std::chrono::milliseconds> interval() {
  return {[](std::string_view text) -> Result<std::chrono::milliseconds> {
            if (text == "0") return std::chrono::milliseconds(0);
            return parse_duration(text);
          },
          format_duration, "a duration such as 100ms, 1s, 1min, or 0 for no limit"};
}

// A key of TlsSettings. load_web_config() creates that object before it sets a key.
template <class Member, class AnyNotation>
Setting<WebConfig> tls_key(std::string_view name, Member of_tls, const AnyNotation& notation) {
  return setting<WebConfig>(
      name, [=](auto& config) -> auto& { return (*config.tls).*of_tls; }, notation);
}

Setting<WebConfig> header(std::string_view name, const Notation<std::string>& value) {
  const auto parse = [=](WebConfig& config, std::string_view text) -> Status {
    TRY(auto content, value.read(text));
    config.headers.emplace_back(name.substr(name.rfind('.') + 1), std::move(content));
    return {};
  };
  return {.name = name, .parse = parse, .text = {}, .allowed = value.allowed};
}

Setting<WebConfig> header(std::string_view name) {
  const auto anything = [](std::string_view /*text*/) { return Status(); };
  return header(name, text_that(anything, "one line of text, or \"\" for none"));
}

template <class List, class Value>
bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

std::span<const Setting<WebConfig>> web_keys() {
  using Tls = TlsSettings;
  static const auto file = text_that(check_some, kFile);
  static const std::vector<Setting<WebConfig>> kKeys = {
      tls_key("tls_server_config.cert_file", &Tls::cert_file, file),
      tls_key("tls_server_config.key_file", &Tls::key_file, file),
      tls_key("tls_server_config.client_auth_type", &Tls::client_auth, client_auth()),
      tls_key("tls_server_config.client_ca_file", &Tls::client_ca_file, file),
      tls_key("tls_server_config.client_allowed_sans", &Tls::client_allowed_sans,
              texts(text_that(check_some, "DNS names, IP addresses, e-mail addresses and URIs"))),
      tls_key("tls_server_config.min_version", &Tls::min_version, version()),
      tls_key("tls_server_config.max_version", &Tls::max_version, version()),
      tls_key("tls_server_config.cipher_suites", &Tls::cipher_suites,
              texts(text_that(check_suite, kSuiteNames))),
      tls_key("tls_server_config.prefer_server_cipher_suites", &Tls::prefer_server_cipher_suites,
              flag()),
      tls_key("tls_server_config.curve_preferences", &Tls::curve_preferences,
              texts(one_of({"CurveP256", "CurveP384", "CurveP521", "X25519"},
                           "CurveP256, CurveP384, CurveP521 and X25519", "is not supported"))),
      setting<WebConfig>("http_server_config.http2", member(&WebConfig::http2), flag()),
      header("http_server_config.headers.Content-Security-Policy"),
      header("http_server_config.headers.X-Frame-Options",
             one_of({"deny", "sameorigin", ""}, "deny or sameorigin")),
      header("http_server_config.headers.X-Content-Type-Options",
             one_of({"nosniff", ""}, "nosniff")),
      header("http_server_config.headers.X-XSS-Protection"),
      header("http_server_config.headers.Strict-Transport-Security"),
      setting<WebConfig>("rate_limit.interval",
                         member(&WebConfig::rate_limit, &RateLimit::interval), interval()),
      setting<WebConfig>("rate_limit.burst", member(&WebConfig::rate_limit, &RateLimit::burst),
                         whole_number<unsigned>(1, 1'000'000)),
  };
  return kKeys;
}

Status check_bcrypt(std::string_view hash) {
  constexpr std::size_t kLength = 60;  // $2y$NN$ and 53 characters of salt and hash
  constexpr int kDearest = 13;         // one try takes 0.4 s of a CPU, and a stop may wait for it
  constexpr std::string_view kBase64 =
      "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const bool prefixed =
      hash.starts_with("$2a$") || hash.starts_with("$2b$") || hash.starts_with("$2y$");
  int cost = 0;
  if (hash.size() == kLength) std::from_chars(hash.data() + 4, hash.data() + 6, cost);
  // The message does not repeat the text: somebody may have put the password there.
  if (!prefixed || hash.size() != kLength || cost < 4 || hash[6] != '$' ||
      hash.find_first_not_of(kBase64, 7) != std::string_view::npos) {
    return Error("is not a bcrypt hash; use what 'htpasswd -nBC 10 \"\"' prints behind the colon",
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
