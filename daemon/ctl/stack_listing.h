// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// The stacks of an answer in JSON (docs/http.md, "Snapshots") as text. Each stack begins with the
// innermost function and ends with its process, what it waited for and at which site, and how long
// it waited; the longest waits come last. `delimited`: a line "--" between kernel and user
// functions. Characters that a terminal would obey are written as text.
Result<std::string> stack_listing(const std::string& json, bool delimited);

// The folded lines without the frame "-" between user and kernel functions.
std::string without_delimiters(const std::string& folded);

}  // namespace offcpud
