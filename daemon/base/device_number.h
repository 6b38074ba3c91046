// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// Device numbers in the kernel's own encoding (include/linux/kdev_t.h). stat() uses another one.
inline constexpr std::uint32_t kMinorBits = 20;

constexpr std::uint32_t device_number(std::uint32_t major, std::uint32_t minor) {
  return major << kMinorBits | minor;
}
constexpr std::uint32_t major_of(std::uint32_t device) {
  return device >> kMinorBits;
}
constexpr std::uint32_t minor_of(std::uint32_t device) {
  return device & ((1U << kMinorBits) - 1);
}

}  // namespace offcpud
