// SPDX-License-Identifier: Apache-2.0
#include "selection/cgroup_pattern.h"

#include "attribution/cgroup_filter.h"

namespace offcpud {
namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Result<std::optional<CgroupPattern>> CgroupPattern::parse(std::string_view text) {
  if (text.empty()) return std::optional<CgroupPattern>();
  TRY(auto pattern, Pattern::parse(text));
  return std::optional(CgroupPattern(std::move(pattern), is_letter_or_digit(text.front())));
}

// Compares paths even if the expression is for units: a|/b is one expression.
bool CgroupPattern::matches(std::string_view path) const {
  if (pattern_.matches(path)) return true;
  return means_units_ &&
         has_unit(path, [this](std::string_view unit) { return pattern_.matches(unit); });
}

}  // namespace offcpud
