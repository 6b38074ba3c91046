// SPDX-License-Identifier: Apache-2.0
// The file with TLS settings, users and headers.
#include <fstream>

#include "config/web_config.h"
#include "fuzz.h"
#include "support/temp_tree.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  static const TempTree tree;
  const std::filesystem::path file = tree.root() / "web.yml";
  std::ofstream(file, std::ios::binary) << input;
  const auto web = load_web_config(file);
  if (!web) {
    require(is_printable(web.error().message()), "an error is one line of text");
    return require(web.error().message().find("web.yml") != std::string::npos,
                   "that names the file");
  }
  for (const auto& [name, value] : web->headers) {
    require(!has_control_bytes(name) && !has_control_bytes(value, "\t"),
            "a header is one line of an answer");
    require(name.find_first_of(": ") == std::string::npos && !name.empty(), "with one name");
  }
  for (const auto& [user, hash] : web->users) {
    require(user.find(':') == std::string::npos, "a user can log in");
    require(hash.starts_with("$2"), "passwords are bcrypt's");
  }
  for (const std::string& warning : web->warnings)
    require(is_printable(warning), "so is a warning");
  require(*load_web_config(file) == *web, "the same file means the same");
}

std::vector<std::string> seeds() {
  return {R"(tls_server_config:
  cert_file: server.crt
  key_file: /etc/ssl/private/server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca/clients.crt
  client_allowed_sans: [prometheus.example.org, 192.0.2.7]
  min_version: TLS12
  max_version: TLS13
  cipher_suites:
    - TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256
    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
  prefer_server_cipher_suites: false
  curve_preferences: [X25519, CurveP256]
)",
          R"(http_server_config:
  http2: false
  headers:
    Strict-Transport-Security: max-age=31536000
    X-Frame-Options: ""
basic_auth_users:
  alice: $2y$04$lB5ty6zqiwCQCFO0E1NmR.nRNJQkGKlPBPmSJNyXcQ1PfaTZsKbxu
rate_limit:
  interval: 100ms
  burst: 5
)",
          "basic_auth_users: {\"a\\nb\": x}\n",
          "http_server_config: {headers: {\"X\": \"a\\r\\nSet-Cookie: b\"}}\n"};
}

}  // namespace offcpud::fuzz
