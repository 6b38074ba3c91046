// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace offcpud::test {

// More than any file of the repository that a test reads has.
inline constexpr std::size_t kFileLimit = 1 << 20;

}  // namespace offcpud::test
