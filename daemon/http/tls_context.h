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

// Certificate, key and rules for TLS connections (GnuTLS), read from files once. Immutable: any
// number of connections share it. Each keeps it alive until it ends, even if new ones get another.
class TlsContext {
 public:
  // Reads the files of `settings`. Errors name the file and what is wrong with it.
  static Result<std::shared_ptr<const TlsContext>> load(const TlsSettings& settings);

  // Sets up the connection with this context, before the handshake. The context must outlive it.
  Status apply(gnutls_session_t session) const;

  // Whether the client showed a certificate that was verified; call it after the handshake.
  [[nodiscard]] bool has_verified_client(gnutls_session_t session) const;

  // Whether certificates of clients are verified, not just requested.
  [[nodiscard]] bool verifies_clients() const;

  // The end of the certificate's validity.
  [[nodiscard]] WallTime expires() const { return expires_; }

 private:
  using CredentialsHandle =
      UniqueHandle<&gnutls_certificate_free_credentials, gnutls_certificate_credentials_t(nullptr)>;
  using PriorityHandle = UniqueHandle<&gnutls_priority_deinit, gnutls_priority_t(nullptr)>;

  explicit TlsContext(const TlsSettings& settings);
  Status read_files(const TlsSettings& settings);
  Status read_expiry(const std::filesystem::path& file, std::string& pem);
  static int verify(gnutls_session_t session);  // called in the handshake; 0: accept

  ClientAuth client_auth_;
  std::vector<std::string> allowed_sans_;
  CredentialsHandle credentials_;
  PriorityHandle priority_;
  WallTime expires_;
};

// The priority string (gnutls_priority_init(3)) for versions, cipher suites and curves.
std::string priority_string(const TlsSettings& settings);

}  // namespace offcpud
