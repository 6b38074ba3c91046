// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace offcpud {

// null for an empty text, and for the number 0.
inline nlohmann::ordered_json text_or_null(const std::string& text) {
  if (text.empty()) return nullptr;
  return text;
}

inline nlohmann::ordered_json number_or_null(std::uint32_t number) {
  if (number == 0) return nullptr;
  return number;
}

}  // namespace offcpud
