// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unwind.h"

namespace offcpud {

// The smallest set of keys of the trie `unwind_mappings` that covers the addresses begin <= a < end
// of a process. Each key is an aligned block whose size is a power of two. At most 2 * 64; most
// mappings need 4 to 6.
std::vector<offcpud_unwind_mapping_key> address_prefixes(std::uint32_t tgid, std::uint64_t begin,
                                                         std::uint64_t end);

// The number of these keys.
std::size_t count_address_prefixes(std::uint64_t begin, std::uint64_t end);

}  // namespace offcpud
