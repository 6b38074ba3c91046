// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace offcpud {

// What a client's certificate must be; the names are those of Go's tls.ClientAuthType.
enum class ClientAuth {
  NoClientCert,
  RequestClientCert,
  RequireAnyClientCert,
  VerifyClientCertIfGiven,
  RequireAndVerifyClientCert,
};

struct TlsSettings {
  std::filesystem::path cert_file, key_file, client_ca_file;  // joined to the folder of the file
  ClientAuth client_auth = ClientAuth::NoClientCert;
  std::vector<std::string> client_allowed_sans;  // empty: every name
  std::string min_version = "TLS12";             // TLS12 or TLS13
  std::string max_version = "TLS13";
  bool prefer_server_cipher_suites = true;
  std::vector<std::string> cipher_suites;      // IANA names, of TLS 1.2; empty: the default
  std::vector<std::string> curve_preferences;  // names of Go's tls.CurveID; empty: the default

  friend bool operator==(const TlsSettings&, const TlsSettings&) = default;
};

// A token bucket: `burst` requests at once, and one more each `interval`; 0: no limit.
struct RateLimit {
  std::chrono::milliseconds interval{0};
  unsigned burst = 1;

  friend bool operator==(const RateLimit&, const RateLimit&) = default;
};

// TLS, users and headers of the HTTP server, in the format of the Prometheus exporter toolkit
// (github.com/prometheus/exporter-toolkit, docs/web-configuration.md).
struct WebConfig {
  std::optional<TlsSettings> tls;                            // nullopt: plain HTTP
  std::map<std::string, std::string, std::less<>> users;     // name to bcrypt hash; empty: no auth
  std::vector<std::pair<std::string, std::string>> headers;  // "" removes a header that we send
  RateLimit rate_limit;
  bool http2 = false;                 // has no effect
  std::vector<std::string> warnings;  // accepted settings that have no effect, with file and line

  friend bool operator==(const WebConfig&, const WebConfig&) = default;
};

// Reads and checks the file, but does not open certificates and keys. Settings that this server
// cannot honour are errors: `FILE:LINE: tls_server_config.cert: ...; use ...`.
Result<WebConfig> load_web_config(const std::filesystem::path& file);

}  // namespace offcpud
