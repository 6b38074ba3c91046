// SPDX-License-Identifier: Apache-2.0
#include "config/notation.h"

#include "base/printable.h"
#include "config/byte_size.h"

namespace offcpud {
namespace {

constexpr std::string_view kGarbled = "contains a control character or is not UTF-8";

template <class T>
Notation<T> between(T least, T most, Result<T> (*read)(std::string_view), std::string (*text)(T),
                    const std::string& what) {
  const auto parse = [=](std::string_view line) -> Result<T> {
    TRY(const T value, read(line));
    if (value < least || value > most) return refusal(line, "is out of range");
    return value;
  };
  return {parse, text, what + " (" + text(least) + " to " + text(most) + ")"};
}

std::string as_it_is(const std::string& text) {
  return text;
}

}  // namespace

std::string enumeration(std::span<const std::string_view> words, std::string_view last_separator) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last_separator : ", ";
    text += words[i];
  }
  return text;
}

Status check_one_line(std::string_view text) {
  const bool several = text.find_first_of("\t\n\r") != std::string_view::npos;
  if (several || find_text_defect(text)) return refusal(text, kGarbled);
  return {};
}

Notation<bool> flag() {
  return choice<bool>({{"true", true}, {"false", false}}, "true or false");
}

Notation<std::chrono::microseconds> fine_duration_between(std::chrono::microseconds least,
                                                          std::chrono::microseconds most) {
  return between(least, most, parse_fine_duration, format_fine_duration,
                 "a duration such as 100us, 5ms, 1s");
}

Notation<std::uint64_t> size_between(std::uint64_t least, std::uint64_t most) {
  return between(least, most, parse_byte_size, format_byte_size, "a size such as 64MiB, 1GiB");
}

Notation<std::string> one_of(const std::vector<std::string_view>& words, std::string allowed,
                             std::string_view problem) {
  std::vector<NamedValue<std::string>> choices;
  choices.reserve(words.size());
  for (const std::string_view word : words) choices.push_back({word, std::string(word)});
  return choice(std::move(choices), std::move(allowed), problem);
}

Notation<std::string> text_that(Status (*check)(std::string_view), std::string allowed) {
  const auto parse = [check](std::string_view text) -> Result<std::string> {
    TRY_VOID(check_one_line(text));
    TRY_VOID(check(text));
    return std::string(text);
  };
  return {parse, as_it_is, std::move(allowed)};
}

Notation<std::string> secret_text_that(Status (*check)(std::string_view), std::string allowed) {
  const auto parse = [check](std::string_view text) -> Result<std::string> {
    if (!check_one_line(text)) return Error(std::string(kGarbled), ErrorKind::Configuration);
    TRY_VOID(check(text));
    return std::string(text);
  };
  return {parse, as_it_is, std::move(allowed)};
}

}  // namespace offcpud
