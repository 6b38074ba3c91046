// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/duration.h"
#include "config/refusal.h"

namespace offcpud {

// How values of one type are written in files, on command lines and in requests, and which values
// are allowed.
template <class T>
struct Notation {
  // The error is a fragment: `"10" has no unit (ms, s, min, h, d)`.
  std::function<Result<T>(std::string_view text)> parse;
  // Writes what `parse` reads back. Empty for values that are only read.
  std::function<std::string(const T& value)> text;
  std::string allowed;  // completes "use ...": "true or false"

  // As `parse`, but the error also says what is allowed.
  Result<T> read(std::string_view line) const {
    auto value = parse(line);
    if (value) return value;
    return Error(value.error().message() + "; use " + allowed, ErrorKind::Configuration);
  }
};

// The member `name` of each entry of a table.
template <class Table>
std::vector<std::string_view> names_of(const Table& table) {
  std::vector<std::string_view> names(std::size(table));
  std::ranges::transform(table, names.begin(), [](const auto& entry) { return entry.name; });
  return names;
}

// "a, b, c", or "a, b or c" with " or " as the last separator.
std::string enumeration(std::span<const std::string_view> words,
                        std::string_view last_separator = ", ");

// Refuses control characters and invalid UTF-8: quoted YAML values and arguments can hold them,
// though a configuration file itself may not.
Status check_one_line(std::string_view text);

Notation<bool> flag();

template <class Number>
Notation<Number> whole_number(Number least, Number most) {
  const auto parse = [least, most](std::string_view text) -> Result<Number> {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data(), end, number);
    if (code == std::errc::result_out_of_range && stop == end) {
      return refusal(text, "is too large");
    }
    if (code != std::errc{} || stop != end) return refusal(text, "is not a whole number");
    if (number < least || number > most) return refusal(text, "is out of range");
    return number;
  };
  return {parse, [](const Number& number) { return std::to_string(number); },
          "a whole number from " + std::to_string(least) + " to " + std::to_string(most)};
}

// A whole number that fits into the type.
template <class Number>
Notation<Number> any_number() {
  auto notation = whole_number<Number>(0, std::numeric_limits<Number>::max());
  notation.allowed = "a whole number such as 1234";
  return notation;
}

template <class Unit>
Notation<Unit> duration_between(std::chrono::milliseconds least, std::chrono::milliseconds most,
                                std::string_view examples = "500ms, 10s, 10min, 1h") {
  const auto parse = [least, most](std::string_view text) -> Result<Unit> {
    TRY(const auto duration, parse_duration(text));
    if (duration < least || duration > most) return refusal(text, "is out of range");
    const auto value = std::chrono::floor<Unit>(duration);
    if (value != duration) return refusal(text, "is not a whole number of seconds");
    return value;
  };
  return {parse, [](const Unit& value) { return format_duration(value); },
          "a duration such as " + std::string(examples) + " (" + format_duration(least) + " to " +
              format_duration(most) + ")"};
}

// Also accepts microseconds (us).
Notation<std::chrono::microseconds> fine_duration_between(std::chrono::microseconds least,
                                                          std::chrono::microseconds most);

// A size in bytes.
Notation<std::uint64_t> size_between(std::uint64_t least, std::uint64_t most);

// A value, or `word` for nullopt.
template <class T>
Notation<std::optional<T>> or_word(std::string_view word, Notation<T> value) {
  std::string allowed = std::string(word) + ", or " + value.allowed;
  const auto parse =
      [word, parse = std::move(value.parse)](std::string_view text) -> Result<std::optional<T>> {
    if (text == word) return std::optional<T>();
    TRY(auto some, parse(text));
    return std::optional<T>(std::move(some));
  };
  const auto to_text = [word, text = std::move(value.text)](const std::optional<T>& some) {
    return some ? text(*some) : std::string(word);
  };
  return {parse, to_text, std::move(allowed)};
}

template <class T>
struct NamedValue {
  std::string_view name;
  T value;
};

// One of several words, each of which stands for a value. An empty `allowed` becomes "one of a, b,
// c". `problem`: what the error says about other words.
template <class T>
Notation<T> choice(std::vector<NamedValue<T>> choices, std::string allowed = {},
                   std::string_view problem = "is not known") {
  if (allowed.empty()) allowed = "one of " + enumeration(names_of(choices));
  const auto parse = [choices, problem](std::string_view text) -> Result<T> {
    for (const NamedValue<T>& each : choices) {
      if (each.name == text) return each.value;
    }
    return refusal(text, problem);
  };
  const auto to_text = [choices](const T& value) {
    for (const NamedValue<T>& each : choices) {
      if (each.value == value) return std::string(each.name);
    }
    return std::string();
  };
  return {parse, to_text, std::move(allowed)};
}
// As choice(); the words are the values.
Notation<std::string> one_of(const std::vector<std::string_view>& words, std::string allowed = {},
                             std::string_view problem = "is not known");

// One line of text that `check` accepts.
Notation<std::string> text_that(Status (*check)(std::string_view text), std::string allowed);

// As text_that(), but errors do not repeat the text, which may hold a secret.
Notation<std::string> secret_text_that(Status (*check)(std::string_view text), std::string allowed);

}  // namespace offcpud
