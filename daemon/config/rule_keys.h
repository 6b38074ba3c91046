// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "config/config_schema.h"

namespace offcpud {

inline constexpr std::size_t kMaxRules = 100;  // of one option

// What a rule of stalls.rules, processes.rules and snapshots.cgroups may say, in the order of the
// documentation.
std::span<const RuleKey<StallRule>> stall_rule_keys();
std::span<const RuleKey<ProcessRule>> process_rule_keys();
std::span<const RuleKey<CgroupRule>> cgroup_rule_keys();

}  // namespace offcpud
