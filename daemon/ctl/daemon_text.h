// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// A text that the daemon wrote for people, with its lines. Characters that a terminal would obey
// are written as text, because anybody may have answered.
Result<std::string> daemon_text(const std::string& answer);

// The verdicts, which are the text of /api/v1/why up to its first empty line, and then what to type
// next.
Result<std::string> verdict_text(const std::string& answer);

// An answer in JSON, unchanged. Error: it is not JSON.
Result<std::string> json_checked(const std::string& answer);

}  // namespace offcpud
