// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "config/config.h"
#include "config/setting.h"

namespace offcpud {

// The keys of a rule of stalls.rules, processes.rules and snapshots.cgroups, in the order of the
// documentation.
std::span<const Setting<StallRule>> stall_rule_keys();
std::span<const Setting<ProcessRule>> process_rule_keys();
std::span<const Setting<CgroupRule>> cgroup_rule_keys();

}  // namespace offcpud
