// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gnutls/gnutls.h>

#include <string>
#include <vector>

namespace offcpud {

// The certificate that the client of a connection showed in its handshake.

bool has_certificate(gnutls_session_t session);

// Signed by one of the session's trusted authorities, valid now, and for TLS clients.
bool is_trusted(gnutls_session_t session);

// One of its subject alternative names (RFC 5280, section 4.2.1.6: DNS name, e-mail address, URI or
// IP address) equals one of `allowed`.
bool has_name_of(gnutls_session_t session, const std::vector<std::string>& allowed);

}  // namespace offcpud
