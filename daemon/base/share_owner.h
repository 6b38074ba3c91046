// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace offcpud {

// The user whose share of a common resource is used: the real uid of a process. All processes whose
// uid is unknown share one.
using ShareOwner = std::optional<std::uint32_t>;

}  // namespace offcpud
