// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud::test {

// Ids of the cgroups of two services.
inline constexpr std::uint64_t kWeb = 11, kDb = 12;

}  // namespace offcpud::test
