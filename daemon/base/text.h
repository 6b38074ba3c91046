// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace offcpud {

// The UTF-8 sequence at the start of `bytes`, which must not be empty. If the sequence is not
// well-formed: its maximal well-formed part, at least one byte (Unicode standard, table 3-7: no
// overlong forms, no surrogates, nothing above U+10FFFF).
struct Utf8Sequence {
  std::size_t length = 0;
  bool valid = false;
};
Utf8Sequence first_utf8_sequence(std::string_view bytes);

// `bytes` as valid UTF-8. Every maximal part of an ill-formed sequence becomes one U+FFFD, as in
// browsers (Unicode standard, chapter 3, "U+FFFD Substitution of Maximal Subparts"). Names of
// cgroups and threads are bytes to the kernel, but label values must be text.
std::string to_valid_utf8(std::string_view bytes);

// A text as the kernel stores it in an array: with a NUL at its end if there is room. Valid as long
// as the array.
template <std::size_t kSize>
std::string_view up_to_nul(const char (&bytes)[kSize]) {
  return {bytes, ::strnlen(bytes, kSize)};
}

template <std::size_t kSize>
std::string_view up_to_nul(const std::array<char, kSize>& bytes) {
  return {bytes.data(), ::strnlen(bytes.data(), kSize)};
}

// The name of a thread or process as text: the kernel has bytes.
template <class Bytes>
std::string comm_text(const Bytes& comm) {
  return to_valid_utf8(up_to_nul(comm));
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// "7f12"
std::string hexadecimal(std::uint64_t value);

// Removes from `text` all that is before the first `end`, and that `end`. Returns what was before
// it; without an `end`, all of `text`.
std::string_view take_until(std::string_view& text, char end);

// `text` without blanks and tabs at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace offcpud
