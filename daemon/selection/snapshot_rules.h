// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "stacks/capture_rules.h"

namespace offcpud {

// What goes into snapshots, as the options say it. Error: an expression does not compile;
// load_config refuses those. Its `keeps_cgroup` is for one thread: it remembers what it decided.
Result<CaptureRules> capture_rules(const Config& config);

// The options of which that is made, those that are not at their default: CaptureRules::text.
std::string capture_text(const Config& config);

}  // namespace offcpud
