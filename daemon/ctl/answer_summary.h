// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// What an answer about stacks says of itself (kSummaryHeader), in one sentence for people: of how
// long it is, how much was off CPU and how exactly that is known, and what is missing from it.
// "" where there is no summary, or none that can be read: an older daemon gives none.
std::string summary_sentence(const std::string& summary);

}  // namespace offcpud
