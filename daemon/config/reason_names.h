// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/hist_kind.h"

namespace offcpud {

// Values of the label `reason`, by enum offcpud_hist_kind.
inline constexpr std::span<const std::string_view> kReasonNames(kHistKindNames.data(),
                                                                OFFCPUD_BLOCKED_KINDS);

// The enum offcpud_hist_kind of a reason; nullopt: there is no such reason.
inline std::optional<std::size_t> reason_named(std::string_view name) {
  const auto found = std::ranges::find(kReasonNames, name);
  if (found == kReasonNames.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kReasonNames.begin());
}

}  // namespace offcpud
