// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "config/pattern.h"

namespace offcpud {

// The key `cgroup` of a rule: a regular expression for the whole path of a cgroup. No path begins
// with a letter or digit, so an expression that does is for names of units; it matches their
// cgroups and those below. Copies share the compiled form.
class CgroupPattern {
 public:
  // Nothing if the text is empty: any cgroup matches.
  static Result<std::optional<CgroupPattern>> parse(std::string_view text);

  [[nodiscard]] bool matches(std::string_view path) const;

 private:
  CgroupPattern(Pattern pattern, bool means_units)
      : pattern_(std::move(pattern)), means_units_(means_units) {}

  Pattern pattern_;
  bool means_units_;
};

}  // namespace offcpud
