// SPDX-License-Identifier: Apache-2.0
#include "api/known_units.h"

#include <algorithm>

#include "base/printable.h"
#include "pipeline/stall.h"

namespace offcpud {
namespace {

// Looks at processes, too: they exist even for cgroups that found no room for series of their own.
bool knows(const View& view, const CgroupFilter& cgroup) {
  const auto admits = [&](const auto& has_labels) {
    return has_labels.labels && cgroup.admits(has_labels.labels->cgroup);
  };
  return std::ranges::any_of(view.subjects, admits) ||
         std::ranges::any_of(view.processes, admits) ||
         (view.stalls && std::ranges::any_of(view.stalls->stalls,
                                             [&](const auto& stall) { return admits(*stall); }));
}

std::string_view without_slash(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// Of "/a/b", "/a"; of "/a", "/".
std::string_view parent_of(std::string_view path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

bool lives(std::string_view path, const IsLiveCgroup& is_live) {
  return path == "/" || (is_live && is_live(path));
}

// Without the sums of removed cgroups, of which only some exist.
bool exists(const CgroupFilter& cgroup, const IsLiveCgroup& is_live) {
  if (cgroup.is_all()) return true;
  const std::string_view path = without_slash(cgroup.text());
  return path == kOtherCgroup || (!cgroup.is_unit() && lives(path, is_live));
}

// Where a cgroup that is to begin soon can be seen: its parent, if that lives.
std::string below_what(const CgroupFilter& cgroup, const IsLiveCgroup& is_live) {
  const std::string_view path = without_slash(cgroup.text());
  if (!path.starts_with('/') || is_removed_series(path)) return {};
  const std::string_view parent = parent_of(path);
  if (parent == "/" || !lives(parent, is_live)) return {};
  return "; to see what begins below " + quotation(parent) + ", ask for that";
}

}  // namespace

bool is_there(const CgroupFilter& cgroup, const IsLiveCgroup& is_live) {
  if (exists(cgroup, is_live)) return true;
  const std::string_view path = without_slash(cgroup.text());
  return is_removed_series(path) && lives(parent_of(path), is_live);
}

Error unknown_cgroup(const CgroupFilter& cgroup, const std::string& where) {
  if (!cgroup.is_unit()) {
    return Error("no cgroup " + where + " is " + quotation(cgroup.text()) +
                     " or below it; `systemd-cgls` lists cgroups, and /api/v1/units those that "
                     "were measured",
                 ErrorKind::NotFound);
  }
  return Error("no cgroup " + where + " belongs to a unit called " + quotation(cgroup.text()) +
                   "; `systemctl list-units` lists units, /api/v1/units those that were "
                   "measured, and `systemctl status PID` names the unit of a process",
               ErrorKind::NotFound);
}

Status check_cgroup(const View& view, const Parameters& query, const IsLiveCgroup& is_live) {
  const auto parameter = query.find("cgroup");
  if (parameter == query.end()) return {};
  const auto cgroup = CgroupFilter::parse(parameter->second);
  if (!cgroup || exists(*cgroup, is_live) || knows(view, *cgroup)) return {};
  const Error unknown = unknown_cgroup(*cgroup, "of this host");
  return Error(unknown.message() + below_what(*cgroup, is_live), unknown.kind());
}

}  // namespace offcpud
