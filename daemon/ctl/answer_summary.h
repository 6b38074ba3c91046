// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// The summary of an answer about stacks (kSummaryHeader) as one sentence for people: how much time
// it covers, how much was off CPU, how exactly that is known, and what is missing. Empty if there
// is no readable summary: older daemons send none.
std::string summary_sentence(const std::string& summary);

}  // namespace offcpud
