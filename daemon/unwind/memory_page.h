// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>

namespace offcpud {

// The unit of mappings: 4 KiB on x86-64.
inline std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// The bits of an address within a page.
inline std::uint64_t page_mask() {
  return page_size() - 1;
}

}  // namespace offcpud
