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

// Every key of the web configuration file but the users, with the levels joined by dots.
std::span<const Setting<WebConfig>> web_keys();

// A hash of crypt(5) with prefix 2a, 2b or 2y. The error is a fragment.
Status check_bcrypt(std::string_view hash);

// GnuTLS chooses key exchange and cipher by themselves (gnutls_priority_init(3)), so a list is
// honoured exactly only if it has every combination of those it names. The error is a fragment.
Status check_cipher_suites(const std::vector<std::string>& suites);

// The parts of a cipher suite of TLS 1.2, in the words of GnuTLS.
struct CipherSuite {
  std::string_view name;  // IANA, as in Go
  std::string_view key_exchange;
  std::string_view cipher;
};
const CipherSuite* find_cipher_suite(std::string_view name);

}  // namespace offcpud
