// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "sites/site_rules.h"

namespace offcpud {

// Rules that people write; they come before the shipped ones.
inline constexpr const char* kOwnSiteRules = "/etc/offcpud/wait-sites";

// Shipped rules: PREFIX/share/offcpud/wait-sites of the program that runs, which is
// PREFIX/bin/NAME.
std::filesystem::path shipped_site_rules();

// Both, in their order.
std::vector<std::filesystem::path> site_rule_folders();

// The rules of all *.yaml files of the folders, the first folder's first. A folder that does not
// exist has none. Errors name file and line.
Result<std::shared_ptr<const SiteRules>> load_site_rules(
    std::span<const std::filesystem::path> folders);

}  // namespace offcpud
