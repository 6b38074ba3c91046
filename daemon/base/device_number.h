// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// Numbers of devices as the kernel has them (include/linux/kdev_t.h), which differ from those that
// stat() tells.
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
