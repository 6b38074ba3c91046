// SPDX-License-Identifier: Apache-2.0
// tests/data/site-rules: one file for each kind of mistake, its message beside it.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "sites/site_folders.h"
#include "support/file_limit.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

const fs::path kDirectory = fs::path(OFFCPUD_SOURCE_DIR) / "tests/data/site-rules";

std::vector<std::string> mistakes() {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(kDirectory, code)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  return names;
}

class BadSiteRules : public testing::TestWithParam<std::string> {};

TEST_P(BadSiteRules, AreRefusedWithTheirMessage) {
  const auto text = read_file(kDirectory / (GetParam() + ".yaml"), test::kFileLimit);
  const auto expected = read_file(kDirectory / (GetParam() + ".expected"), test::kFileLimit);
  ASSERT_TRUE(text && expected);
  const TempTree tree({{"rules/" + GetParam() + ".yaml", *text}});
  const std::array<fs::path, 1> folders = {tree.root() / "rules"};
  const auto rules = load_site_rules(folders);
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().kind(), ErrorKind::Configuration);
  std::string message = rules.error().message() + "\n";
  const std::string prefix = folders[0].native() + "/";
  for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) {
    message.erase(at, prefix.size());
  }
  EXPECT_EQ(message, *expected);
}

INSTANTIATE_TEST_SUITE_P(Files, BadSiteRules, testing::ValuesIn(mistakes()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace offcpud
