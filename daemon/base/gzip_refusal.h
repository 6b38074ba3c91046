// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace offcpud {

// Why a scrape was not compressed although its client asked for it: value of the label `cause` of
// offcpud_scrapes_not_compressed_total.
enum class GzipRefusal : std::size_t {
  Peer,  // the client's address or user already has its share of the slots (http/gzip_slots.h)
  All,   // all slots are taken
};

inline constexpr std::array<std::string_view, 2> kGzipRefusalNames = {"peer", "all"};

constexpr std::string_view name_of(GzipRefusal cause) {
  return kGzipRefusalNames[static_cast<std::size_t>(cause)];
}

}  // namespace offcpud
