// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "api/top_query.h"
#include "pipeline/view.h"

namespace offcpud {

// The body of /api/v1/top (docs/http.md): processes or threads over the interval between the last
// two walks. `suspended`: suspended_time(), needed for the wall time at which a process started.
// Bytes that are not UTF-8 become U+FFFD.
std::string top_json(const View& view, const TopQuery& query, std::chrono::nanoseconds suspended);

}  // namespace offcpud
