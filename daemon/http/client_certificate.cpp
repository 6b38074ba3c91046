// SPDX-License-Identifier: Apache-2.0
#include "http/client_certificate.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/unique_handle.h"

namespace offcpud {
namespace {

using CertificateHandle = UniqueHandle<&gnutls_x509_crt_deinit, gnutls_x509_crt_t(nullptr)>;

// The first certificate of the chain, the client's own; null: there is none, or it is broken.
CertificateHandle certificate_of(gnutls_session_t session) {
  unsigned count = 0;
  const gnutls_datum_t* const chain = gnutls_certificate_get_peers(session, &count);
  gnutls_x509_crt_t raw = nullptr;
  if (chain == nullptr || count == 0 || gnutls_x509_crt_init(&raw) != 0) return {};
  CertificateHandle certificate(raw);
  if (gnutls_x509_crt_import(raw, chain, GNUTLS_X509_FMT_DER) != 0) return {};
  return certificate;
}

std::string address_text(const char* bytes, std::size_t size) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = size == sizeof(in_addr) ? AF_INET : AF_INET6;
  if (size != sizeof(in_addr) && size != sizeof(in6_addr)) return {};
  const char* const made = ::inet_ntop(family, bytes, text.data(), text.size());
  return made != nullptr ? made : "";
}

}  // namespace

bool has_certificate(gnutls_session_t session) {
  unsigned count = 0;
  return gnutls_certificate_get_peers(session, &count) != nullptr && count > 0;
}

bool is_trusted(gnutls_session_t session) {
  std::string purpose = GNUTLS_KP_TLS_WWW_CLIENT;
  gnutls_typed_vdata_st wanted{};
  wanted.type = GNUTLS_DT_KEY_PURPOSE_OID;
  wanted.data = reinterpret_cast<unsigned char*>(purpose.data());
  unsigned problems = 0;
  return gnutls_certificate_verify_peers(session, &wanted, 1, &problems) == 0 && problems == 0;
}

bool has_name_of(gnutls_session_t session, const std::vector<std::string>& allowed) {
  const CertificateHandle certificate = certificate_of(session);
  if (!certificate) return false;
  std::array<char, 2048> name{};  // no operator would list a longer one
  for (unsigned index = 0;; ++index) {
    std::size_t size = name.size();
    const int type =
        gnutls_x509_crt_get_subject_alt_name(certificate.get(), index, name.data(), &size, nullptr);
    if (type == GNUTLS_E_SHORT_MEMORY_BUFFER) continue;
    if (type < 0) return false;  // there are no more names
    std::string text;
    if (type == GNUTLS_SAN_IPADDRESS) {
      text = address_text(name.data(), size);
    } else if (type == GNUTLS_SAN_DNSNAME || type == GNUTLS_SAN_RFC822NAME ||
               type == GNUTLS_SAN_URI) {
      text.assign(name.data(), size);
    }
    if (!text.empty() && std::find(allowed.begin(), allowed.end(), text) != allowed.end()) {
      return true;
    }
  }
}

}  // namespace offcpud
