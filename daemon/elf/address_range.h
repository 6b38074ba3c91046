// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// A half-open range of ELF virtual addresses.
struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

}  // namespace offcpud
