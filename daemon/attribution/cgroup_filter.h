// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "attribution/subject.h"
#include "base/result.h"

namespace offcpud {

// Whether `path` is `ancestor` or lies below it.
bool is_at_or_below(std::string_view path, std::string_view ancestor);

// Whether `matches(name)` holds for a systemd unit on the path. Each unit is tried by its name as
// systemd escapes it and, if it differs, by the unescaped name.
template <class Matches>
bool has_unit(std::string_view path, const Matches& matches) {
  std::string_view top;
  for (int depth = 0; !path.empty();) {
    const std::string_view directory = path.substr(0, path.find('/'));
    path.remove_prefix(directory.size() + (directory.size() < path.size() ? 1 : 0));
    if (directory.empty()) continue;
    const UnitName unit = unit_of_directory(++depth == 2 ? top : std::string_view(), directory);
    if (!unit.escaped.empty() && matches(unit.escaped)) return true;
    if (!unit.text.empty() && matches(std::string_view(unit.text))) return true;
    if (depth == 1) top = directory;
  }
  return false;
}

// Selects cgroups by a path or a unit's name, in the same way for all endpoints and commands.
// Immutable.
//
//   /system.slice   this path and those below it
//   (other)         the series that sums several cgroups
//   nginx.service   every cgroup of a unit of that name, wherever it is, and those below it; the
//                   name is as systemd escapes it, or as the label `unit` shows it
//   nginx           the same: a name without a type is a service, as for systemctl
class CgroupFilter {
 public:
  CgroupFilter() = default;  // admits all

  // Error (ErrorKind::Usage): the text is neither; see kAllowed.
  static Result<CgroupFilter> parse(std::string_view text);

  [[nodiscard]] bool admits(std::string_view path) const;

  // As admits(), without the cgroups below.
  [[nodiscard]] bool admits_itself(std::string_view path) const;

  [[nodiscard]] bool is_all() const { return text_.empty(); }
  [[nodiscard]] bool is_unit() const {
    return !is_all() && text_.front() != '/' && text_[0] != '(';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

  static constexpr const char* kAllowed =
      "a path such as /system.slice, or a unit such as nginx.service";

  friend bool operator==(const CgroupFilter&, const CgroupFilter&) = default;

 private:
  [[nodiscard]] bool names(std::string_view unit) const;

  std::string text_;  // as it was written
};

}  // namespace offcpud
