// SPDX-License-Identifier: Apache-2.0
#include "unwind/address_prefixes.h"

#include <endian.h>

#include <algorithm>
#include <bit>

namespace offcpud {
namespace {

// The number of address bits in the largest block that begins there.
int block_bits(std::uint64_t begin, std::uint64_t end) {
  const int aligned = begin == 0 ? 63 : std::countr_zero(begin);
  const int fitting = 63 - std::countl_zero(end - begin);
  return std::min(aligned, fitting);
}

}  // namespace

std::size_t count_address_prefixes(std::uint64_t begin, std::uint64_t end) {
  std::size_t count = 0;
  for (; begin < end; ++count) begin += std::uint64_t{1} << block_bits(begin, end);
  return count;
}

std::vector<offcpud_unwind_mapping_key> address_prefixes(std::uint32_t tgid, std::uint64_t begin,
                                                         std::uint64_t end) {
  std::vector<offcpud_unwind_mapping_key> keys;
  while (begin < end) {
    const int bits = block_bits(begin, end);
    keys.push_back({.prefix_bits = static_cast<__u32>(OFFCPUD_UNWIND_KEY_BITS - bits),
                    .tgid = htobe32(tgid),
                    .address = htobe64(begin)});
    begin += std::uint64_t{1} << bits;
  }
  return keys;
}

}  // namespace offcpud
