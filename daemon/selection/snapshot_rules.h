// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "stacks/capture_rules.h"

namespace offcpud {

// The blocks that snapshots include, according to the options. Error: an expression does not
// compile; load_config() refuses those before. Only one thread may call its `keeps_cgroup`, which
// remembers results.
Result<CaptureRules> capture_rules(const Config& config);

// The value of CaptureRules::text: those of these options that differ from their defaults.
std::string capture_text(const Config& config);

}  // namespace offcpud
