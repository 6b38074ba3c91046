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

// Whether the host has, or had until a while ago, what the parameter `cgroup` names. A name or path
// that nothing has is a mistake: "nothing waits" would be a wrong answer to it. Error
// (ErrorKind::NotFound): the sentence to answer. A parameter that does not parse is no concern of
// this. `is_live`: null where nobody knows; the View decides then.
Status check_cgroup(const View& view, const Parameters& query, const IsLiveCgroup& is_live);

// Whether these are cgroups of the host, whatever waited in them: all, the root, a path that lives,
// and what stands for several cgroups. Of a unit nobody knows.
bool is_there(const CgroupFilter& cgroup, const IsLiveCgroup& is_live);

// The sentence, with `where` it was looked for: "of this host".
Error unknown_cgroup(const CgroupFilter& cgroup, const std::string& where);

}  // namespace offcpud
