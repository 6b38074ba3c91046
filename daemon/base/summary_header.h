// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// Header of the daemon's answers with stacks, in which they say what they hold, whatever their
// format: one line of JSON; docs/http.md, "Snapshots".
inline constexpr const char* kSummaryHeader = "Offcpud-Summary";

}  // namespace offcpud
