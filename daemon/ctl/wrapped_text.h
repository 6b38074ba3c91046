// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace offcpud {

// `text` with lines of at most `width` columns, broken at blanks: what goes on is indented, so that
// one sees where the next line of the text begins. A word that is too long stays whole. Unchanged
// for kAnyWidth: nobody reads it on a terminal.
std::string wrapped(const std::string& text, std::size_t width);

}  // namespace offcpud
