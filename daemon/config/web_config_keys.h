// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/setting.h"
#include "config/web_config.h"

namespace offcpud {

// Every key of the web configuration file except the users; levels are joined by dots.
std::span<const Setting<WebConfig>> web_keys();

// Accepts a hash of crypt(5) with prefix 2a, 2b or 2y. The error is a fragment.
Status check_bcrypt(std::string_view hash);

// Accepts a list that has every combination of the key exchanges and ciphers it names: GnuTLS
// chooses these two separately (gnutls_priority_init(3)), so no other list can be honoured. The
// error is a fragment.
Status check_cipher_suites(const std::vector<std::string>& suites);

// The parts of a TLS 1.2 cipher suite, as GnuTLS names them.
struct CipherSuite {
  std::string_view name;  // IANA, as in Go
  std::string_view key_exchange;
  std::string_view cipher;
};
const CipherSuite* find_cipher_suite(std::string_view name);

}  // namespace offcpud
