// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace offcpud {

// The HTTP header that says what an answer with stacks holds, in any format: one line of JSON
// (docs/http.md, "Snapshots").
inline constexpr const char* kSummaryHeader = "Offcpud-Summary";

}  // namespace offcpud
