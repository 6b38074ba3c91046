// SPDX-License-Identifier: Apache-2.0
// docs/wait-sites.md says all that a rule may say, and its examples are rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file_io.h"
#include "sites/site_rule_keys.h"
#include "sites/site_rules.h"
#include "support/file_limit.h"

namespace offcpud {
namespace {

using testing::HasSubstr;

std::string document() {
  const auto text =
      read_file(std::string(OFFCPUD_SOURCE_DIR) + "/docs/wait-sites.md", test::kFileLimit);
  EXPECT_TRUE(text);
  return text ? *text : "";
}

TEST(SiteDocuments, NameEveryKeyAndWord) {
  const std::string text = document();
  for (const auto& key : site_rule_keys()) {
    EXPECT_THAT(text, HasSubstr("| `" + std::string(key.name) + "` |"));
  }
  for (const auto& key : site_file_keys()) {
    EXPECT_THAT(text, HasSubstr("`" + std::string(key.name) + ":`"));
  }
  for (const auto name : kWaitForNames) EXPECT_THAT(text, HasSubstr("`" + std::string(name) + "`"));
  for (const auto name : kSiteLevelNames) {
    EXPECT_THAT(text, HasSubstr("| `" + std::string(name) + "` |"));
  }
  for (std::size_t i = 1; i < kSiteQuestionNames.size(); ++i) {
    EXPECT_THAT(text, HasSubstr("| `" + std::string(kSiteQuestionNames[i]) + "` |"));
  }
}

TEST(SiteDocuments, ExamplesAreRules) {
  const std::string text = document();
  std::size_t examples = 0;
  const std::string fence = "```yaml\n";
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    const auto rules = parse_site_rules(text.substr(at, text.find("```", at) - at), "example");
    ASSERT_TRUE(rules) << rules.error().message();
    EXPECT_TRUE(SiteRules::make(*rules));
    ++examples;
  }
  EXPECT_GE(examples, 2U);
}

}  // namespace
}  // namespace offcpud
