// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace offcpud {

// Breaks the lines of `text` at blanks, so that each has at most `width` columns. Continuation
// lines are indented, so that readers see where a line of the text begins. A word that is too long
// stays whole. Returns `text` unchanged for kAnyWidth, where the output is no terminal, and for
// widths below 40.
std::string wrapped(const std::string& text, std::size_t width);

}  // namespace offcpud
