// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/query_parameters.h"
#include "attribution/cgroup_filter.h"
#include "base/result.h"
#include "pipeline/view.h"

namespace offcpud {

// Whether a cgroup of that path exists now.
using IsLiveCgroup = std::function<bool(std::string_view path)>;

// Checks that this host has, or recently had, the cgroup or unit that the parameter `cgroup` names.
// For one that does not exist, "nothing waits" would be a wrong answer. Error
// (ErrorKind::NotFound): the sentence to answer. It names the parent of a path if that exists: a
// cgroup that is created later shows up there. Accepts a parameter that does not parse; its parser
// reports that. `is_live` null: the View alone decides.
Status check_cgroup(const View& view, const Parameters& query, const IsLiveCgroup& is_live);

// Whether the filter names cgroups that exist, even if nothing waited in them: all, the root, a
// path that lives, "(other)", or the removed cgroups below a path that lives. False for a unit.
bool is_there(const CgroupFilter& cgroup, const IsLiveCgroup& is_live);

// The error that names the cgroup and `where` it was looked for, such as "of this host".
Error unknown_cgroup(const CgroupFilter& cgroup, const std::string& where);

}  // namespace offcpud
