// SPDX-License-Identifier: Apache-2.0
#include "api/address_names.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include <cstddef>
#include <string_view>

namespace offcpud {

AddressNames::AddressNames() : keyed_(gnutls_rnd(GNUTLS_RND_KEY, key_.data(), key_.size()) == 0) {}

std::string AddressNames::of(std::uint32_t tgid, std::uint64_t address) const {
  constexpr std::size_t kShownBytes = 6;  // of 1,000 names, two are equal once in 500 million
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<std::uint64_t, 2> place{tgid, address};
  std::array<unsigned char, 32> digest{};
  if (!keyed_ || gnutls_hmac_fast(GNUTLS_MAC_SHA256, key_.data(), key_.size(), place.data(),
                                  sizeof(place), digest.data()) != 0) {
    return {};
  }
  std::string name = "#";
  for (std::size_t i = 0; i < kShownBytes; ++i) {
    name += kDigits[digest.at(i) >> 4U];
    name += kDigits[digest.at(i) & 0xfU];
  }
  return name;
}

}  // namespace offcpud
