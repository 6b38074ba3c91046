// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// JSON as aligned lines `name  value`; nested objects and lists are indented below their name.
// Users choose names of processes and cgroups, so characters that a terminal would obey are
// written as text.
Result<std::string> status_text(const std::string& json);

// The sentence of an error answer, `{"error": "..."}`; empty if the body is anything else.
std::string error_sentence(const std::string& json);

}  // namespace offcpud
