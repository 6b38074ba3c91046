// SPDX-License-Identifier: Apache-2.0
// The web configuration file: what is taken over, and what is refused with which words.
#include "config/web_config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/web_config_keys.h"
#include "unit/config/config_tree.h"

namespace offcpud {
namespace {

constexpr const char* kHash = "$2y$04$lB5ty6zqiwCQCFO0E1NmR.nRNJQkGKlPBPmSJNyXcQ1PfaTZsKbxu";

class WebConfigTest : public testing::Test {
 protected:
  Result<WebConfig> load(const std::string& text) const {
    tree_.write("web.yml", text);
    return load_web_config(tree_.path("web.yml"));
  }
  // The message without the directory; empty if the file is accepted.
  [[nodiscard]] std::string error_of(const std::string& text) const {
    const auto config = load(text);
    if (config) return {};
    EXPECT_EQ(config.error().kind(), ErrorKind::Configuration);
    const std::string& message = config.error().message();
    const std::string folder = tree_.path("").native();
    EXPECT_EQ(message.substr(0, folder.size()), folder);
    return message.substr(folder.size());
  }

  test::ConfigTree tree_;
};

TEST_F(WebConfigTest, EverythingOfTheFormatThatIsHonoured) {
  const auto config = load(R"(
tls_server_config:
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
http_server_config:
  http2: false
  headers:
    Strict-Transport-Security: max-age=31536000
    X-Frame-Options: sameorigin
basic_auth_users:
  alice: )" + std::string(kHash) +
                           R"(
  first.last: )" + kHash + R"(
rate_limit:
  interval: 1s
  burst: 20
)");
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_TRUE(config->tls);
  EXPECT_EQ(config->tls->cert_file, tree_.path("server.crt"));
  EXPECT_EQ(config->tls->key_file, "/etc/ssl/private/server.key");
  EXPECT_EQ(config->tls->client_ca_file, tree_.path("ca/clients.crt"));
  EXPECT_EQ(config->tls->client_auth, ClientAuth::RequireAndVerifyClientCert);
  EXPECT_EQ(config->tls->client_allowed_sans,
            (std::vector<std::string>{"prometheus.example.org", "192.0.2.7"}));
  EXPECT_EQ(config->tls->cipher_suites.size(), 2U);
  EXPECT_FALSE(config->tls->prefer_server_cipher_suites);
  EXPECT_EQ(config->tls->curve_preferences, (std::vector<std::string>{"X25519", "CurveP256"}));
  EXPECT_EQ(config->headers.size(), 2U);
  EXPECT_EQ(config->users.size(), 2U);
  EXPECT_TRUE(config->users.contains("first.last"));
  EXPECT_EQ(config->rate_limit, (RateLimit{std::chrono::seconds(1), 20}));
  EXPECT_TRUE(config->warnings.empty());
}

TEST_F(WebConfigTest, UsersWithoutTlsAreAccepted) {
  const auto config = load("basic_auth_users: {alice: " + std::string(kHash) + "}\n");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_FALSE(config->tls);
  EXPECT_EQ(config->rate_limit.interval.count(), 0);
}

TEST_F(WebConfigTest, Http2CannotBeHonouredAndIsWarnedOf) {
  const auto config = load("http_server_config:\n  http2: true\n");
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_EQ(config->warnings.size(), 1U);
  EXPECT_NE(config->warnings[0].find("web.yml:2: http2: true has no effect"), std::string::npos);
}

// What is refused, and with which words.
using Refusals = std::vector<std::pair<std::string, std::string>>;

Refusals refusals_of_tls() {
  const std::string tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
  return {
      {"tls_server_config:\n",
       "web.yml:1: tls_server_config: is not a map; use a map, or remove the key"},
      {"tls_server_config: {}\n",
       "web.yml:1: tls_server_config.cert_file: is missing; TLS needs a certificate"},
      {"tls_server_config:\n  cert_file: a\n",
       "web.yml:1: tls_server_config.key_file: is missing; TLS needs a private key"},
      {"tls_server_config:\n  cert: pem\n",
       "web.yml:2: tls_server_config.cert: is not supported; use cert_file"},
      {tls + "  min_version: TLS10\n",
       "web.yml:4: tls_server_config.min_version: \"TLS10\" is not supported; use TLS12 or TLS13"},
      {tls + "  min_version: TLS13\n  max_version: TLS12\n",
       "web.yml:4: tls_server_config.min_version: is higher than max_version; lower the first or "
       "raise the second"},
      {tls + "  client_auth_type: RequireAndVerifyClientCert\n",
       "web.yml:1: tls_server_config.client_ca_file: is missing; client_auth_type needs it to "
       "verify with"},
      {tls + "  client_ca_file: ca\n",
       "web.yml:4: tls_server_config.client_ca_file: has no effect without a client_auth_type that "
       "verifies; use RequireAndVerifyClientCert"},
      {tls + "  client_allowed_sans: [a]\n",
       "web.yml:4: tls_server_config.client_allowed_sans: would let clients without a certificate "
       "in; use it with client_auth_type RequireAndVerifyClientCert"},
      {tls + "  curve_preferences: [X25519MLKEM768]\n",
       "web.yml:4: tls_server_config.curve_preferences: entry 1: \"X25519MLKEM768\" is not "
       "supported; use a list of CurveP256, CurveP384, CurveP521 and X25519"},
      {tls + "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "
             "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]\n",
       "web.yml:4: tls_server_config.cipher_suites: cannot leave out "
       "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 with the others in the list; add it, or keep to "
       "one of ECDSA and RSA"},
  };
}

Refusals other_refusals() {
  return {
      {"",
       "web.yml: the file is empty; restore it, or remove web.config_file from the configuration "
       "to do without TLS and passwords"},
      {"http_server_config: {headers: {X-Frame-Options: allow}}\n",
       "web.yml:1: http_server_config.headers.X-Frame-Options: \"allow\" is not known; use deny or "
       "sameorigin"},
      {"http_server_config: {headers: {Content-Security-Policy: \"a\\r\\nSet-Cookie: b\"}}\n",
       "web.yml:1: http_server_config.headers.Content-Security-Policy: "
       "\"a\\x0d\\x0aSet-Cookie: b\" contains a control character or is not UTF-8; use one line of "
       "text, or \"\" for none"},
      {"basic_auth_users:\n",
       "web.yml:1: basic_auth_users: is not a map; use a map, or remove the key"},
      {"basic_auth_users: {}\n",
       "web.yml:1: basic_auth_users: names nobody; remove it to ask for no password"},
      {"basic_auth_users:\n  alice: secret\n",
       "web.yml:2: basic_auth_users.alice: is not a bcrypt hash; use what 'htpasswd -nBC 10 \"\"' "
       "prints behind the colon"},
      {"basic_auth_users: {alice: $2y$18$" + std::string(53, 'a') + "}\n",
       "web.yml:1: basic_auth_users.alice: has cost 18, which takes too long for each try; "
       "use a cost of 4 to 13, such as 10"},
      {"basic_auth_users: {\"a:b\": " + std::string(kHash) + "}\n",
       "web.yml:1: basic_auth_users.a:b: no client can send a user name with a colon or a control "
       "character"},
      {"rate_limit: {interval: 10}\n",
       "web.yml:1: rate_limit.interval: \"10\" has no unit (ms, s, min, h, d); use a duration such "
       "as 100ms, 1s, 1min, or 0 for no limit"},
      {"rate_limit: {burst: 0}\n",
       "web.yml:1: rate_limit.burst: \"0\" is out of range; use a whole number from 1 to 1000000"},
  };
}

TEST_F(WebConfigTest, RefusalsNameLineKeyAndWhatIsAllowed) {
  for (const Refusals& refusals : {refusals_of_tls(), other_refusals()}) {
    for (const auto& [text, expected] : refusals) EXPECT_EQ(error_of(text), expected) << text;
  }
  EXPECT_EQ(error_of("tls_server_config.cert_file: a\n"),
            "web.yml:1: tls_server_config.key_file: is missing; TLS needs a private key");
  EXPECT_NE(error_of("tls: {}\n").find("web.yml:1: tls: unknown key; the keys are tls_server_"),
            std::string::npos);
}

TEST_F(WebConfigTest, AFileThatIsMissingIsAnErrorAndNotPlainHttp) {
  const auto config = load_web_config(tree_.path("web.yml"));
  ASSERT_FALSE(config);
  EXPECT_NE(config.error().message().find("does not exist"), std::string::npos);
}

TEST(CipherSuites, AllCombinationsOrOneKeyExchangeAreExact) {
  const std::string ecdsa = "TLS_ECDHE_ECDSA_WITH_";
  const std::string rsa = "TLS_ECDHE_RSA_WITH_";
  EXPECT_TRUE(check_cipher_suites({}));
  EXPECT_TRUE(check_cipher_suites({rsa + "AES_128_GCM_SHA256", rsa + "AES_256_GCM_SHA384"}));
  EXPECT_TRUE(check_cipher_suites({rsa + "AES_128_GCM_SHA256", ecdsa + "AES_128_GCM_SHA256"}));
}

}  // namespace
}  // namespace offcpud
