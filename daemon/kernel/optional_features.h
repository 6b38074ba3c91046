// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace offcpud {

// A feature (FeatureReport) that the daemon can do without, and the kernel programs that have code
// for it. If a kernel refuses one of them, only the feature is missing.
struct OptionalFeature {
  std::string_view name;
  std::vector<std::string_view> own;     // loaded only for this feature
  std::vector<std::string_view> shared;  // always loaded; a constant turns the feature's code off
};

// In the order in which they are given up if a program has code for several.
std::span<const OptionalFeature> optional_features();

}  // namespace offcpud
