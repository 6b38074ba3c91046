// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "pipeline/view.h"

namespace offcpud {

// How first_look_text() begins.
inline constexpr std::string_view kStartedAgo = "the daemon started ";

// "the daemon started 7 s ago; ask again in 10 s": why it is not known yet what threads wait for,
// while the first window is open or being examined. Empty: that is not the reason.
std::string first_look_text(const View& view);

}  // namespace offcpud
