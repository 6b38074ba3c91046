// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_filter.h"

namespace offcpud {
namespace {

constexpr std::string_view kDefaultType = ".service";

}  // namespace

bool is_at_or_below(std::string_view path, std::string_view ancestor) {
  while (ancestor.ends_with('/')) ancestor.remove_suffix(1);
  if (!path.starts_with(ancestor)) return false;
  return path.size() == ancestor.size() || path[ancestor.size()] == '/';
}

Result<CgroupFilter> CgroupFilter::parse(std::string_view text) {
  CgroupFilter filter;
  filter.text_ = text;
  const bool is_path = text.starts_with('/') || text.starts_with('(');
  // Refuses "system.slice/nginx.service": names of units have no "/", it is escaped in them.
  const bool is_name = !text.empty() && text.find('/') == std::string_view::npos;
  if (is_path || is_name) return filter;
  return Error(std::string("use ") + kAllowed, ErrorKind::Usage);
}

bool CgroupFilter::names(std::string_view unit) const {
  if (unit == text_) return true;
  return unit.size() == text_.size() + kDefaultType.size() && unit.ends_with(kDefaultType) &&
         unit.starts_with(text_);
}

bool CgroupFilter::admits(std::string_view path) const {
  if (is_all()) return true;
  if (!is_unit()) return is_at_or_below(path, text_);
  return has_unit(path, [this](std::string_view unit) { return names(unit); });
}

bool CgroupFilter::admits_itself(std::string_view path) const {
  if (is_all()) return true;
  if (!is_unit()) return is_at_or_below(path, text_) && is_at_or_below(text_, path);
  const std::size_t parent = path.find_last_of('/');
  return admits(path) && (parent == std::string_view::npos || !admits(path.substr(0, parent)));
}

}  // namespace offcpud
