// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace offcpud {

// For whom something is done or kept that all users share: the real user of a process. Those that
// are not known count as one.
using ShareOwner = std::optional<std::uint32_t>;

}  // namespace offcpud
