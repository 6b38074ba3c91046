// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

inline constexpr std::uint64_t kPageMask = 4095;  // memory is mapped in pages of 4 KiB

}  // namespace offcpud
