// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gnutls/gnutls.h>

#include <string>
#include <vector>

namespace offcpud {

// About the certificate that a client showed in the TLS handshake.

bool has_certificate(gnutls_session_t session);

// Whether it is signed by a trusted authority of the session, valid now, and for TLS clients.
bool is_trusted(gnutls_session_t session);

// Whether one of its subject alternative names equals one of `allowed` (RFC 5280, section 4.2.1.6:
// DNS name, e-mail address, URI or IP address).
bool has_name_of(gnutls_session_t session, const std::vector<std::string>& allowed);

}  // namespace offcpud
