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

}  // namespace

Error unknown_unit(const CgroupFilter& cgroup, const std::string& where) {
  return Error(
      "no cgroup " + where + " belongs to a unit called " + quotation(cgroup.text()) +
          "; /api/v1/units lists the units, and `systemctl status PID` names the unit of a "
          "process",
      ErrorKind::NotFound);
}

Status check_unit(const View& view, const Parameters& query) {
  const auto parameter = query.find("cgroup");
  if (parameter == query.end()) return {};
  const auto cgroup = CgroupFilter::parse(parameter->second);
  if (!cgroup || !cgroup->is_unit() || knows(view, *cgroup)) return {};
  return unknown_unit(*cgroup, "of this host");
}

}  // namespace offcpud
