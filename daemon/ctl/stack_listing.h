// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// The stacks of an answer in JSON (docs/http.md, "Snapshots") as text, each innermost function
// first, then whose it is and for how many microseconds it waited; what waited longest comes last.
// `delimited`: a line "--" between kernel and user functions. What a terminal would obey is written
// out.
Result<std::string> stack_listing(const std::string& json, bool delimited);

// Folded lines without the frame "-" between user and kernel functions.
std::string without_delimiters(const std::string& folded);

}  // namespace offcpud
