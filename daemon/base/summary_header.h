// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// Header of answers with stacks that says what they hold, for all formats: one line of
// JSON; docs/http.md, "Snapshots".
inline constexpr const char* kSummaryHeader = "Offcpud-Summary";

}  // namespace offcpud
