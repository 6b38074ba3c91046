// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/query_parameters.h"
#include "attribution/cgroup_filter.h"
#include "base/result.h"
#include "pipeline/view.h"

namespace offcpud {

// Checks that this host has, or recently had, the unit that the parameter `cgroup` names. For a
// name that no unit has, "nothing waits" would be a wrong answer. Error (ErrorKind::NotFound): the
// sentence to answer. Accepts a parameter that does not parse; its parser reports that.
Status check_unit(const View& view, const Parameters& query);

// The error that names the unit and `where` it was looked for, such as "of this host".
Error unknown_unit(const CgroupFilter& cgroup, const std::string& where);

}  // namespace offcpud
