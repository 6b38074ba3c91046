// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "config/setting.h"
#include "sites/site_rule.h"

namespace offcpud {

// What a rule may say, in the order of the documentation (docs/wait-sites.md).
std::span<const Setting<SiteRule>> site_rule_keys();

// A file of rules.
struct SiteFile {
  SiteLevel level = SiteLevel::Program;
  std::vector<SiteRule> rules;

  static constexpr std::size_t kMostRules = 500;
};

// What a file may say besides its rules.
std::span<const Setting<SiteFile>> site_file_keys();

}  // namespace offcpud
