// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "pipeline/view.h"

namespace offcpud {

// How first_look_text() begins.
inline constexpr std::string_view kStartedAgo = "the daemon started ";

// Says why it is not known yet what threads wait for, if the first window is still open or being
// examined: "the daemon started 7 s ago; ask again in 10 s". Empty: that is not the reason.
std::string first_look_text(const View& view);

}  // namespace offcpud
