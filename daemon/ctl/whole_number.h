// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace offcpud {

// A whole number of a server's answer. Throws std::out_of_range if `value` is none, or is too large
// for a Number; nlohmann::json converts any number, and a double beyond the type is undefined
// behaviour.
template <class Number>
Number whole_number(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::in_range<Number>(number)) return static_cast<Number>(number);
  }
  throw std::out_of_range(value.dump() + " is not a whole number in its range");
}

// The same into a variable, whose type is the range.
template <class Number>
void get_whole(const nlohmann::json& value, Number& number) {
  number = whole_number<Number>(value);
}

}  // namespace offcpud
