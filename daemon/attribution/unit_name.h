// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "attribution/subject.h"
#include "base/no_unit.h"

namespace offcpud {

// What people call the cgroup: its unit, kNoUnit for the root, else its path. Make it printable
// before it reaches a terminal.
inline std::string unit_name(std::string_view cgroup) {
  if (cgroup == "/") return kNoUnit;
  SubjectLabels labels = labels_of_cgroup(cgroup);
  return labels.unit.empty() ? std::string(cgroup) : std::move(labels.unit);
}

}  // namespace offcpud
