// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/explain_flags.h"
#include "sites/site_rules.h"

namespace offcpud {

// Which rule takes each of the stacks in `text`, and why, the heaviest first; then the time by what
// it waited for. Names are printable.
Result<std::string> explanation(const std::string& text, const ExplainRequest& request,
                                const std::shared_ptr<const SiteRules>& rules);

// `offcpuctl explain-stack`: loads the rules and reads the file. Asks no daemon.
Result<std::string> explain_stacks(const ExplainRequest& request);

}  // namespace offcpud
