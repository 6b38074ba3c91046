// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/query_parameters.h"
#include "attribution/cgroup_filter.h"
#include "base/result.h"
#include "pipeline/view.h"

namespace offcpud {

// Whether the host has, or had until a while ago, what the parameter `cgroup` names by a unit. A
// name that no unit has is a mistake: "nothing waits" would be a wrong answer to it. Error
// (ErrorKind::NotFound): the sentence to answer. A parameter that does not parse is no concern of
// this.
Status check_unit(const View& view, const Parameters& query);

// The sentence, with `where` it was looked for: "of this host".
Error unknown_unit(const CgroupFilter& cgroup, const std::string& where);

}  // namespace offcpud
