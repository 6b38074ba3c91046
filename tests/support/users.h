// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud::test {

// Numbers of users.
inline constexpr std::uint32_t kAlice = 1000, kBob = 1001, kCarol = 1002;
// May be up to no good.
inline constexpr std::uint32_t kMallory = 1003;
// One who takes whatever he gets, and another one.
inline constexpr std::uint32_t kHog = 65534, kOther = 1000;

}  // namespace offcpud::test
