// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace offcpud {

// Text of one line for each stack.
using StackLines = std::vector<std::string>;

// The stacks of an answer in JSON (docs/http.md, "Snapshots"), those that waited longest first: how
// long, what for and at which site, and the functions of the program, innermost first; of threads
// without any, the kernel's. Names are as the daemon sent them: use terminal_text() to print them.
Result<StackLines> stack_lines(const std::string& json);

}  // namespace offcpud
