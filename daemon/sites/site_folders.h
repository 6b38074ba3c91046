// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config_loader.h"
#include "sites/site_rules.h"

namespace offcpud {

// Shipped rules: PREFIX/share/offcpud/wait-sites of the program that runs, which is
// PREFIX/bin/NAME.
std::filesystem::path shipped_site_rules();

// Rules that people write, in `wait-sites` beside the configuration file, then the shipped ones.
// One folder where both are the same.
std::vector<std::filesystem::path> site_rule_folders(
    const std::filesystem::path& config_file = kDefaultConfigFile);

// "227 rules for 153 sites in /etc/offcpud/wait-sites, /usr/share/offcpud/wait-sites"
std::string site_rules_text(const SiteRules& rules, std::span<const std::filesystem::path> folders);

// The rules of all *.yaml files of the folders, the first folder's first. A folder that does not
// exist has none. Errors name file and line.
Result<std::shared_ptr<const SiteRules>> load_site_rules(
    std::span<const std::filesystem::path> folders);

}  // namespace offcpud
