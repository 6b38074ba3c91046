// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// A text that the daemon wrote for people, line by line; what a terminal would obey is written as
// text, whoever answered.
Result<std::string> daemon_text(const std::string& answer);

// An answer in JSON, unchanged. Error: it is none.
Result<std::string> json_checked(const std::string& answer);

}  // namespace offcpud
