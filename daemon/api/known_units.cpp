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

}  // namespace

bool is_there(const CgroupFilter& cgroup, const IsLiveCgroup& is_live) {
  const std::string_view path = without_slash(cgroup.text());
  const bool is_sum = path == kOtherCgroup || path.ends_with(kRemovedCgroup);
  if (cgroup.is_all() || path == "/" || is_sum) return true;
  return is_live && !cgroup.is_unit() && is_live(path);
}

Error unknown_cgroup(const CgroupFilter& cgroup, const std::string& where) {
  if (!cgroup.is_unit()) {
    return Error("no cgroup " + where + " is " + quotation(cgroup.text()) +
                     " or below it; /api/v1/units lists the cgroups",
                 ErrorKind::NotFound);
  }
  return Error("no cgroup " + where + " belongs to a unit called " + quotation(cgroup.text()) +
                   "; /api/v1/units lists the units, and `systemctl status PID` names the unit of "
                   "a process",
               ErrorKind::NotFound);
}

Status check_cgroup(const View& view, const Parameters& query, const IsLiveCgroup& is_live) {
  const auto parameter = query.find("cgroup");
  if (parameter == query.end()) return {};
  const auto cgroup = CgroupFilter::parse(parameter->second);
  if (!cgroup || is_there(*cgroup, is_live) || knows(view, *cgroup)) return {};
  return unknown_cgroup(*cgroup, "of this host");
}

}  // namespace offcpud
