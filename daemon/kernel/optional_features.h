// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace offcpud {

// A feature (FeatureReport) that the daemon can do without, and the kernel programs with code of
// it. A kernel that refuses one of them costs this feature only.
struct OptionalFeature {
  std::string_view name;
  std::vector<std::string_view> own;     // loaded for this feature alone
  std::vector<std::string_view> shared;  // loaded in any case; a constant switches its part off
};

// In the order in which they are given up where one program has parts of several.
std::span<const OptionalFeature> optional_features();

}  // namespace offcpud
