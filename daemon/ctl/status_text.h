// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// JSON as aligned `name  value` lines, nested objects and lists indented below their name. Names
// and values come from whoever named a process or cgroup: what a terminal would obey is written
// out.
Result<std::string> status_text(const std::string& json);

// The sentence of an error answer, `{"error": "..."}`; empty if the body is something else.
std::string error_sentence(const std::string& json);

}  // namespace offcpud
