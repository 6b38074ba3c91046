// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "attribution/subject.h"
#include "base/result.h"

namespace offcpud {

// Whether a path is that of the ancestor, or below it.
bool is_at_or_below(std::string_view path, std::string_view ancestor);

// Whether `matches(name)` holds for a systemd unit whose cgroup is on the path. It is asked about
// each of them by the name as systemd escapes it, and by the name that this stands for, where that
// is another one.
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

// Which cgroups a person means who writes a path or the name of a unit: the one filter of all
// endpoints and commands. Immutable.
//
//   /system.slice   this path and those below it
//   (other)         what stands for several
//   nginx.service   every cgroup of a unit of that name, wherever it is, and those below it. The
//                   name is written as systemd escapes it, or as the label `unit` shows it
//   nginx           the same: without a type it is a service, as for systemctl
class CgroupFilter {
 public:
  CgroupFilter() = default;  // all

  // Error (ErrorKind::Usage): it is neither; see kAllowed.
  static Result<CgroupFilter> parse(std::string_view text);

  [[nodiscard]] bool admits(std::string_view path) const;

  // Not those below.
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
