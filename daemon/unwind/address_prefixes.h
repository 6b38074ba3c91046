// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "unwind.h"

namespace offcpud {

// The fewest keys of the trie `unwind_mappings` that stand for the addresses begin <= a < end of a
// process: each an aligned block of a power of two. 2 * 64 at most; 4 to 6 for most mappings.
std::vector<offcpud_unwind_mapping_key> address_prefixes(std::uint32_t tgid, std::uint64_t begin,
                                                         std::uint64_t end);

}  // namespace offcpud
