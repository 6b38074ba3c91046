// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace offcpud {

// One line of text for each stack.
using StackLines = std::vector<std::string>;

// Describes the stacks of an answer in JSON (docs/http.md, "Snapshots"), the longest wait first. A
// line says how long threads waited there, what for, at which site, and in which functions of the
// program, innermost first; where there are none, in which functions of the kernel. Waits for
// children of one's own are left out: what a child waits for is told of the child. Names are as the
// daemon sent them: use terminal_text() to print them.
Result<StackLines> stack_lines(const std::string& json);

}  // namespace offcpud
