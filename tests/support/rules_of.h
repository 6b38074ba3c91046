// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "sites/site_rules.h"

namespace offcpud::test {

// The rules of a file with this text. The test fails where they are refused.
inline std::shared_ptr<const SiteRules> rules_of(const std::string& text) {
  const auto parsed = parse_site_rules(text, "f.yaml");
  EXPECT_TRUE(parsed) << parsed.error().message();
  const auto rules = SiteRules::make(*parsed);
  EXPECT_TRUE(rules) << rules.error().message();
  return *rules;
}

}  // namespace offcpud::test
