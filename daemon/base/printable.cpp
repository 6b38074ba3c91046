// SPDX-License-Identifier: Apache-2.0
#include "base/printable.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8_prefix.h"

namespace offcpud {
namespace {

constexpr std::size_t kLongestExcerpt = 60;

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_control(unsigned char byte) {
  return byte < 0x20 || byte == 0x7f;
}

// True for the control characters C1, U+0080 to U+009F: U+009B begins a sequence, as ESC [ does.
bool is_c1(std::string_view sequence) {
  return sequence.size() == 2 && byte_at(sequence, 0) == 0xc2 && byte_at(sequence, 1) < 0xa0;
}

// The character that a well-formed sequence encodes (RFC 3629, section 3).
char32_t code_point(std::string_view sequence) {
  char32_t value = byte_at(sequence, 0);
  if (sequence.size() > 1) value &= 0x7fU >> sequence.size();
  for (std::size_t i = 1; i < sequence.size(); ++i)
    value = value << 6 | (byte_at(sequence, i) & 0x3f);
  return value;
}

// True for characters that change the direction of text (Unicode UAX #9: marks, embeddings,
// isolates): with them one name can look like another.
bool turns_direction(std::string_view sequence) {
  const char32_t value = code_point(sequence);
  return value == 0x061c || value == 0x200e || value == 0x200f ||
         (value >= 0x202a && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069);
}

// Length of the well-formed UTF-8 sequence at `at`; 0 if there is none.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const Utf8Sequence sequence = first_utf8_sequence(text.substr(at));
  return sequence.valid ? sequence.length : 0;
}

std::string hex(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {kDigits[byte >> 4], kDigits[byte & 0xf]};
}

}  // namespace

std::optional<TextDefect> find_text_defect(std::string_view text) {
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char byte = byte_at(text, at);
    const std::size_t length = sequence_length(text, at);
    if (length == 0) return TextDefect{line, "byte 0x" + hex(byte) + " is not UTF-8"};
    if (is_control(byte) && byte != '\t' && byte != '\n' && byte != '\r') {
      return TextDefect{line, "control character 0x" + hex(byte)};
    }
    if (byte == '\n') ++line;
    at += length;
  }
  return std::nullopt;
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const unsigned char byte = byte_at(text, at);
    const std::size_t length = sequence_length(text, at);
    const std::string_view sequence = text.substr(at, std::max<std::size_t>(length, 1));
    if (length == 0 || is_control(byte) || is_c1(sequence) || turns_direction(sequence)) {
      for (const char c : sequence) out += "\\x" + hex(static_cast<unsigned char>(c));
    } else {
      out += sequence;
    }
    at += sequence.size();
  }
  return out;
}

std::string numbered(std::string_view name, std::uint64_t number) {
  return printable(name) + "[" + std::to_string(number) + "]";
}

std::string excerpt(std::string_view text) {
  if (text.size() <= kLongestExcerpt) return printable(text);
  return printable(utf8_prefix(text, kLongestExcerpt)) + "...";
}

std::string quotation(std::string_view text) {
  return '"' + excerpt(text) + '"';
}

}  // namespace offcpud
