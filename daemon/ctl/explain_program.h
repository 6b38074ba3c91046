// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/explain_flags.h"
#include "sites/site_rules.h"

namespace offcpud {

// Says which rule takes each stack in `text`, and why, the heaviest stack first. Then sums the time
// by what threads waited for. Names are printable.
Result<std::string> explanation(const std::string& text, const ExplainRequest& request,
                                const std::shared_ptr<const SiteRules>& rules);

// `offcpuctl explain-stack`: loads the rules and reads the file. Asks no daemon.
Result<std::string> explain_stacks(const ExplainRequest& request);

}  // namespace offcpud
