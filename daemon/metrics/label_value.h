// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace offcpud {

// A label value as it is exposed: what a terminal or browser would obey in place of showing it,
// control characters (C0 but newline, DEL, C1) and those that turn the direction of text, becomes
// \xHH for each byte. Text that looks like that already gets \x5c for its backslash, so different
// values stay different. Newline stays: both formats carry it safely. `value` is UTF-8; appended to
// `out`.
void append_label_value(std::string& out, std::string_view value);

}  // namespace offcpud
