// SPDX-License-Identifier: Apache-2.0
#include "http/tls_context.h"

#include <gnutls/x509.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/file_io.h"
#include "base/printable.h"
#include "config/web_config_keys.h"
#include "http/client_certificate.h"

namespace offcpud {
namespace {

constexpr std::size_t kLargestFile = 1UL << 20U;

gnutls_datum_t datum(std::string& text) {
  return {reinterpret_cast<unsigned char*>(text.data()), static_cast<unsigned>(text.size())};
}

Error tls_error(const std::filesystem::path& file, const char* what, int code) {
  return Error(printable(file.native()) + ": " + what + ": " + gnutls_strerror(code),
               ErrorKind::Configuration);
}

Result<std::string> read_pem(const std::filesystem::path& file) {
  auto text = read_file(file, kLargestFile);
  if (text) return text;
  return Error(text.error().message() + "; the user offcpud runs as needs to read it",
               ErrorKind::Configuration);
}

// Appends the name unless it is in the text already.
void append_once(std::string& text, std::string_view name) {
  const std::string part = ":+" + std::string(name);
  if ((text + ":").find(part + ":") == std::string::npos) text += part;
}

std::string_view group_of(std::string_view curve) {
  if (curve == "CurveP256") return "GROUP-SECP256R1";
  if (curve == "CurveP384") return "GROUP-SECP384R1";
  if (curve == "CurveP521") return "GROUP-SECP521R1";
  return "GROUP-X25519";
}

}  // namespace

std::string priority_string(const TlsSettings& settings) {
  std::string text = "NORMAL:-VERS-ALL";
  if (settings.max_version == "TLS13") text += ":+VERS-TLS1.3";
  if (settings.min_version == "TLS12") text += ":+VERS-TLS1.2";
  text += ":-KX-ALL:-CIPHER-ALL:-MAC-ALL:+AEAD";
  if (settings.cipher_suites.empty()) {
    text += ":+ECDHE-ECDSA:+ECDHE-RSA:+AES-256-GCM:+AES-128-GCM:+CHACHA20-POLY1305";
  }
  for (const std::string& name : settings.cipher_suites) {
    const CipherSuite* const suite = find_cipher_suite(name);
    append_once(text, suite->key_exchange);
    append_once(text, suite->cipher);
  }
  if (!settings.curve_preferences.empty()) text += ":-GROUP-ALL";
  for (const std::string& curve : settings.curve_preferences) append_once(text, group_of(curve));
  if (settings.prefer_server_cipher_suites) text += ":%SERVER_PRECEDENCE";
  return text;
}

TlsContext::TlsContext(const TlsSettings& settings)
    : client_auth_(settings.client_auth), allowed_sans_(settings.client_allowed_sans) {}

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const TlsSettings& settings) {
  const std::shared_ptr<TlsContext> context(new TlsContext(settings));
  gnutls_certificate_credentials_t credentials = nullptr;
  int code = gnutls_certificate_allocate_credentials(&credentials);
  if (code != 0) return Error(std::string("set up TLS: ") + gnutls_strerror(code));
  context->credentials_.reset(credentials);
  gnutls_priority_t priority = nullptr;
  code = gnutls_priority_init(&priority, priority_string(settings).c_str(), nullptr);
  if (code != 0) {
    return Error("cipher suites of TLS: " + std::string(gnutls_strerror(code)),
                 ErrorKind::Configuration);
  }
  context->priority_.reset(priority);
  TRY_VOID(context->read_files(settings));
  return std::shared_ptr<const TlsContext>(context);
}

Status TlsContext::read_files(const TlsSettings& settings) {
  TRY(std::string certificate, read_pem(settings.cert_file));
  TRY(std::string key, read_pem(settings.key_file));
  const gnutls_datum_t certificate_bytes = datum(certificate);
  const gnutls_datum_t key_bytes = datum(key);
  int code = gnutls_certificate_set_x509_key_mem2(credentials_.get(), &certificate_bytes,
                                                  &key_bytes, GNUTLS_X509_FMT_PEM, nullptr, 0);
  gnutls_memset(key.data(), 0, key.size());
  if (code < 0) {
    return tls_error(
        settings.cert_file,
        ("no usable certificate for the key " + printable(settings.key_file.native())).c_str(),
        code);
  }
  TRY_VOID(read_expiry(settings.cert_file, certificate));
  if (settings.client_ca_file.empty()) return {};
  TRY(std::string authorities, read_pem(settings.client_ca_file));
  const gnutls_datum_t authority_bytes = datum(authorities);
  code = gnutls_certificate_set_x509_trust_mem(credentials_.get(), &authority_bytes,
                                               GNUTLS_X509_FMT_PEM);
  if (code < 0) return tls_error(settings.client_ca_file, "no usable certificate", code);
  if (code == 0) {
    return Error(printable(settings.client_ca_file.native()) + ": there is no certificate in it",
                 ErrorKind::Configuration);
  }
  return {};
}

Status TlsContext::read_expiry(const std::filesystem::path& file, std::string& pem) {
  gnutls_x509_crt_t raw = nullptr;
  if (gnutls_x509_crt_init(&raw) != 0) return Error("out of memory");
  const UniqueHandle<&gnutls_x509_crt_deinit, gnutls_x509_crt_t(nullptr)> certificate(raw);
  const gnutls_datum_t bytes = datum(pem);
  const int code = gnutls_x509_crt_import(raw, &bytes, GNUTLS_X509_FMT_PEM);
  if (code != 0) return tls_error(file, "the certificate cannot be read", code);
  expires_ = std::chrono::system_clock::from_time_t(gnutls_x509_crt_get_expiration_time(raw));
  return {};
}

Status TlsContext::apply(gnutls_session_t session) const {
  int code = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials_.get());
  if (code == 0) code = gnutls_priority_set(session, priority_.get());
  if (code != 0) return Error(std::string("set up a TLS connection: ") + gnutls_strerror(code));
  if (client_auth_ == ClientAuth::NoClientCert) return {};
  const bool required = client_auth_ == ClientAuth::RequireAnyClientCert ||
                        client_auth_ == ClientAuth::RequireAndVerifyClientCert;
  gnutls_certificate_server_set_request(session,
                                        required ? GNUTLS_CERT_REQUIRE : GNUTLS_CERT_REQUEST);
  // The HTTP library uses this pointer only for pre-shared keys, which we do not use.
  gnutls_session_set_ptr(session, const_cast<TlsContext*>(this));  // NOLINT(*-const-cast): C
  gnutls_session_set_verify_function(session, &TlsContext::verify);
  return {};
}

// Also called without a certificate. If one is required, GnuTLS itself refuses the client.
int TlsContext::verify(gnutls_session_t session) {
  if (!has_certificate(session)) return 0;
  const auto& context = *static_cast<const TlsContext*>(gnutls_session_get_ptr(session));
  if (context.verifies_clients() && !is_trusted(session)) return GNUTLS_E_CERTIFICATE_ERROR;
  if (!context.allowed_sans_.empty() && !has_name_of(session, context.allowed_sans_)) {
    return GNUTLS_E_CERTIFICATE_ERROR;
  }
  return 0;
}

bool TlsContext::verifies_clients() const {
  return client_auth_ == ClientAuth::VerifyClientCertIfGiven ||
         client_auth_ == ClientAuth::RequireAndVerifyClientCert;
}

// True with any certificate, as an untrusted one has ended the handshake.
bool TlsContext::has_verified_client(gnutls_session_t session) const {
  return verifies_clients() && has_certificate(session);
}

}  // namespace offcpud
