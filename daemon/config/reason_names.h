// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "base/hist_kind.h"

namespace offcpud {

// Values of the label `reason`, by enum offcpud_hist_kind.
inline constexpr std::span<const std::string_view> kReasonNames(kHistKindNames.data(),
                                                                OFFCPUD_BLOCKED_KINDS);

}  // namespace offcpud
