// SPDX-License-Identifier: Apache-2.0
// A broken file is an error or another configuration, never a crash, an exception or a hang.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <string_view>

#include "base/file_io.h"
#include "config/config_schema.h"
#include "support/file_limit.h"
#include "unit/config/config_tree.h"

namespace offcpud {
namespace {

constexpr int kMutations = 2'000;

// Bytes and words that mean something to YAML or to the schema.
constexpr std::string_view kTokens[] = {
    ":",    ": ",     "- ",           "[",    "]",  "{",   "}",   "&a ", "*a", "!!str ", "|",
    ">",    "'",      "\"",           "\n",   "\t", "---", "...", "%",   "? ", "#",      ",",
    "<<: ", "\\x00",  "\xff",         "\xe2", "~",  "-1",  "0",   "1e9", "10", "10d",    "\r",
    "null", "linger", "max_series: ", "@",    "`"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string operator()(std::string text) {
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

  void edit(std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t length = below(80);
    switch (below(5)) {
      case 0:
        text.insert(at, kTokens[below(std::size(kTokens))]);
        break;
      case 1:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      default:
        if (!text.empty()) text[at] = static_cast<char>(below(256));
        break;
    }
  }

  std::mt19937 random_;
};

TEST(ConfigMutation, BrokenFilesAreAnErrorOrAnotherConfiguration) {
  const auto shipped = read_file(std::filesystem::path(OFFCPUD_SOURCE_DIR) / "config/offcpud.yaml",
                                 test::kFileLimit);
  ASSERT_TRUE(shipped) << shipped.error().message();
  // Comments shield most of the file from the edits: half of the mutations work without them.
  std::string bare;
  for (const Option& option : config_options()) {
    bare.append(option.name).append(option.is_list() ? ": [1s, {comm: a.*}]\n" : ": 14\n");
  }

  const test::ConfigTree tree;
  Mutator mutate(19435);
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    tree.write("offcpud.yaml", mutate(i % 2 == 0 ? *shipped : bare));
    Result<Config> config = Config{};
    ASSERT_NO_THROW(config = load_config(tree.sources())) << "mutation " << i;
    if (config) continue;
    ++refused;
    EXPECT_EQ(config.error().kind(), ErrorKind::Configuration);
    EXPECT_LT(config.error().message().size(), 1'000U);
  }
  EXPECT_GT(refused, kMutations / 4);
}

}  // namespace
}  // namespace offcpud
