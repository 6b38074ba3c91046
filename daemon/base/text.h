// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpud {

// The sequence of UTF-8 at the start of `bytes`, which are not empty; or, if that is not
// well-formed, the maximal part of one that is, a byte at least (Unicode standard, table 3-7: no
// overlong forms, no surrogates, nothing beyond U+10FFFF).
struct Utf8Sequence {
  std::size_t length = 0;
  bool valid = false;
};
Utf8Sequence first_utf8_sequence(std::string_view bytes);

// `bytes` as valid UTF-8: every maximal part of a sequence that is not well-formed becomes one
// U+FFFD, as the Unicode standard (chapter 3, "U+FFFD Substitution of Maximal Subparts") and every
// browser do. Names of cgroups and threads are bytes to the kernel; label values must be text.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace offcpud
