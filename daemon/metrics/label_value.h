// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace offcpud {

// Appends the value of a label to `out` in the form in which it is exposed. Characters that a
// terminal or browser would obey instead of showing (C0 except newline, DEL, C1, and those that
// change the direction of text) become \xHH for each byte. In text that already looks like that,
// the backslash becomes \x5c, so different values stay different. Newline stays: both formats can
// hold it. `value` must be UTF-8.
void append_label_value(std::string& out, std::string_view value);

}  // namespace offcpud
