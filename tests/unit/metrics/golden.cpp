// SPDX-License-Identifier: Apache-2.0
#include "unit/metrics/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace offcpud::test {

void expect_same_as_file(const std::string& path_in_source, const std::string& actual) {
  const std::string path = std::string(OFFCPUD_SOURCE_DIR "/") + path_in_source;
  const char* update = std::getenv("OFFCPUD_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    std::ofstream(path) << actual;
    return;
  }
  std::ostringstream expected;
  expected << std::ifstream(path).rdbuf();
  EXPECT_EQ(actual, expected.str())
      << path_in_source << " is out of date; OFFCPUD_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace offcpud::test
