// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace offcpud {

// `bytes` as valid UTF-8: every maximal part of a sequence that is not well-formed becomes one
// U+FFFD, as the Unicode standard (chapter 3, "U+FFFD Substitution of Maximal Subparts") and every
// browser do. Names of cgroups and threads are bytes to the kernel; label values must be text.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace offcpud
