// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace offcpud {

// "; short waits that sampling missed add up to 30 ms at most, over all threads": with a
// probability of 0.95, threads waited no longer than this where nothing was sampled
// (docs/semantics.md, "Stacks and snapshots"). `answer`: one about stacks. Empty if it has no
// sampling interval, or if waits are missing for another reason: a filter of the snapshots, files
// that could not be read, samples that were lost.
std::string sampling_bound(const nlohmann::json& answer);

}  // namespace offcpud
