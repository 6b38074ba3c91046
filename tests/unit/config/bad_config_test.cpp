// SPDX-License-Identifier: Apache-2.0
// tests/data/config: one bad file per rule, its message beside it.
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "base/file_io.h"
#include "config/config_loader.h"
#include "support/file_limit.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

const fs::path kDirectory = fs::path(OFFCPUD_SOURCE_DIR) / "tests/data/config";

std::vector<std::string> bad_files() {
  std::vector<std::string> names;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(kDirectory, code)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  return names;
}

class BadConfig : public testing::TestWithParam<std::string> {};

TEST_P(BadConfig, IsRefusedWithItsMessage) {
  const auto expected = read_file(kDirectory / (GetParam() + ".expected"), test::kFileLimit);
  ASSERT_TRUE(expected) << expected.error().message();
  ConfigSources sources;
  sources.file = kDirectory / (GetParam() + ".yaml");
  sources.file_required = true;
  const auto config = load_config(sources);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().kind(), ErrorKind::Configuration);
  EXPECT_EQ(config.error().message() + "\n", kDirectory.native() + "/" + *expected);
}

INSTANTIATE_TEST_SUITE_P(Files, BadConfig, testing::ValuesIn(bad_files()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace offcpud
