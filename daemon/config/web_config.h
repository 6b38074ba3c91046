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

// What is asked of a client's certificate; the names are those of Go's tls.ClientAuthType.
enum class ClientAuth {
  NoClientCert,
  RequestClientCert,
  RequireAnyClientCert,
  VerifyClientCertIfGiven,
  RequireAndVerifyClientCert,
};

struct TlsSettings {
  std::filesystem::path cert_file, key_file, client_ca_file;  // absolute, or as the file is named
  ClientAuth client_auth = ClientAuth::NoClientCert;
  std::vector<std::string> client_allowed_sans;  // empty: every name
  std::string min_version = "TLS12";             // TLS12 or TLS13
  std::string max_version = "TLS13";
  bool prefer_server_cipher_suites = true;
  std::vector<std::string> cipher_suites;      // IANA names, of TLS 1.2; empty: the default
  std::vector<std::string> curve_preferences;  // names of Go's tls.CurveID; empty: the default

  friend bool operator==(const TlsSettings&, const TlsSettings&) = default;
};

// A token bucket: `burst` requests at once, and one more each `interval`. 0: no limit.
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
  std::vector<std::pair<std::string, std::string>> headers;  // "" takes one of ours away
  RateLimit rate_limit;
  bool http2 = false;                 // has no effect
  std::vector<std::string> warnings;  // what was accepted and has no effect, with file and line

  friend bool operator==(const WebConfig&, const WebConfig&) = default;
};

// Reads and checks the file; certificates and keys are not opened. What this server cannot honour
// is an error: `FILE:LINE: tls_server_config.cert: ...; use ...`.
Result<WebConfig> load_web_config(const std::filesystem::path& file);

}  // namespace offcpud
