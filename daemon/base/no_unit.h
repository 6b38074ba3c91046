// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// Stands for the root cgroup where tables and answers list units: its processes belong to no unit.
inline constexpr const char* kNoUnit = "no unit (/)";

// The same in sentences: "no unit (/) waits for ..." would say that nothing waits. It is a plural.
inline constexpr const char* kOutsideOfUnits = "processes outside of all units";

// The unit's name as sentences have it.
inline std::string in_sentence(const std::string& unit) {
  return unit == kNoUnit ? kOutsideOfUnits : unit;
}

// The verb that follows in_sentence(unit).
inline const char* verb_of(const std::string& unit, const char* one, const char* many) {
  return unit == kNoUnit ? many : one;
}

// " of web.service"; of the root cgroup " outside of all units".
inline std::string of_unit(const char* preposition, const std::string& unit) {
  return unit == kNoUnit ? " outside of all units" : std::string(" ") + preposition + " " + unit;
}

}  // namespace offcpud
