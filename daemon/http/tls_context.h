// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gnutls/gnutls.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "config/web_config.h"

namespace offcpud {

// Certificate, key and rules of TLS connections (GnuTLS), read from files once. Immutable, so any
// number of connections share it; each keeps it alive until it ends, while new ones may get
// another.
class TlsContext {
 public:
  // Opens the files of `settings`. The errors name the file and what is wrong in it.
  static Result<std::shared_ptr<const TlsContext>> load(const TlsSettings& settings);

  // Makes the connection one of this context. Before its handshake; the context outlives it.
  Status apply(gnutls_session_t session) const;

  // The client of a connection whose handshake is done showed a certificate, and it was verified.
  [[nodiscard]] bool has_verified_client(gnutls_session_t session) const;

  // Certificates of clients are compared with authorities, not only asked for.
  [[nodiscard]] bool verifies_clients() const;

  // Until when the certificate is valid.
  [[nodiscard]] WallTime expires() const { return expires_; }

 private:
  using CredentialsHandle =
      UniqueHandle<&gnutls_certificate_free_credentials, gnutls_certificate_credentials_t(nullptr)>;
  using PriorityHandle = UniqueHandle<&gnutls_priority_deinit, gnutls_priority_t(nullptr)>;

  explicit TlsContext(const TlsSettings& settings);
  Status read_files(const TlsSettings& settings);
  Status read_expiry(const std::filesystem::path& file, std::string& pem);
  static int verify(gnutls_session_t session);  // of GnuTLS, in the handshake; 0: let it in

  ClientAuth client_auth_;
  std::vector<std::string> allowed_sans_;
  CredentialsHandle credentials_;
  PriorityHandle priority_;
  WallTime expires_;
};

// Versions, cipher suites and curves as a priority string of GnuTLS (gnutls_priority_init(3)).
std::string priority_string(const TlsSettings& settings);

}  // namespace offcpud
