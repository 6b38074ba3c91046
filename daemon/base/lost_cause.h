// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace offcpud {

// Whether events that offcpud_lost_events_total counts for `cause` are missing from other numbers.
// Those of "takers_full" are not: only the name of who had the CPU is unknown.
constexpr bool is_lost(std::string_view cause) {
  return cause != "takers_full";
}

}  // namespace offcpud
