// SPDX-License-Identifier: Apache-2.0
#include "metrics/text_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "metrics/label_value.h"

namespace offcpud {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::size_t kFractionDigits = 9;

bool needs_escape(char c) {
  return c == '\\' || c == '"' || c == '\n';
}

void append_escaped(std::string& out, std::string_view raw) {
  std::string shown;
  append_label_value(shown, raw);
  std::string_view value = shown;
  for (;;) {
    const auto* special = std::find_if(value.begin(), value.end(), needs_escape);
    out.append(value.begin(), special);
    if (special == value.end()) return;
    out += '\\';
    out += *special == '\n' ? 'n' : *special;
    value = {special + 1, value.end()};
  }
}

}  // namespace

void append_number(std::string& out, std::uint64_t value) {
  std::array<char, 20> digits;  // NOLINT(*-member-init): written before it is read
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? "NaN" : (value < 0 ? "-Inf" : "+Inf");
    return;
  }
  std::array<char, 32> digits;                   // NOLINT(*-member-init): written before it is read
  const double number = value == 0 ? 0 : value;  // not "-0"
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_seconds(std::string& out, std::uint64_t nanoseconds) {
  append_number(out, nanoseconds / kNanosecondsPerSecond);
  std::uint64_t fraction = nanoseconds % kNanosecondsPerSecond;
  if (fraction == 0) return;
  std::array<char, kFractionDigits> digits{};
  for (std::size_t i = digits.size(); i > 0; fraction /= 10) {
    digits[--i] = static_cast<char>('0' + fraction % 10);
  }
  std::string_view text(digits.data(), digits.size());
  text = text.substr(0, text.find_last_not_of('0') + 1);
  out += '.';
  out += text;
}

void append_label(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty() && out.back() != '{') out += ',';
  out += name;
  out += "=\"";
  append_escaped(out, value);
  out += '"';
}

}  // namespace offcpud
