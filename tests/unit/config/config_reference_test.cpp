// SPDX-License-Identifier: Apache-2.0
// The files people read - the shipped configuration and the reference - say what the schema says.
#include "config/config_reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/file_io.h"
#include "config/config_schema.h"
#include "config/yaml_settings.h"
#include "unit/config/config_tree.h"

namespace offcpud {
namespace {

constexpr std::size_t kLimit = 1 << 20;
const std::filesystem::path kSource = OFFCPUD_SOURCE_DIR;

TEST(ShippedConfig, EqualsTheDefaults) {
  ConfigSources sources;
  sources.file = kSource / "config/offcpud.yaml";
  sources.file_required = true;
  const auto config = load_config(sources);
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(*config, Config{});
}

TEST(ShippedConfig, NamesEveryOptionOnceInTheOrderOfTheSchema) {
  const auto text = read_file(kSource / "config/offcpud.yaml", kLimit);
  ASSERT_TRUE(text) << text.error().message();
  const auto settings = parse_yaml_settings(*text, "offcpud.yaml");
  ASSERT_TRUE(settings) << settings.error().message();
  std::vector<std::string> written;
  for (const YamlSetting& setting : *settings) {
    if (setting.kind == YamlSetting::Kind::Value) written.push_back(setting.key);
  }
  std::vector<std::string> known;
  for (const Option& option : config_options()) known.emplace_back(option.key);
  EXPECT_EQ(written, known);
}

TEST(ConfigReference, IsTheOneInDocs) {
  const auto path = kSource / "docs/configuration.md";
  if (std::getenv("OFFCPUD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << configuration_reference();
  }
  const auto text = read_file(path, kLimit);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, configuration_reference()) << "refresh it with OFFCPUD_UPDATE_GOLDEN=1";
}

TEST(ConfigText, IsAConfigurationFile) {
  for (const char* listen : {"[::1]:80", "unix:/run/a \"b\" \\c: #d", "127.0.0.1:0"}) {
    Config config;
    config.listen = listen;
    config.state_dir = "/";
    config.state_dir += "x:";
    config.linger = std::chrono::seconds(100);
    const test::ConfigTree tree;
    tree.write("offcpud.yaml", config_text(config));
    const auto back = load_config(tree.sources());
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, config) << config_text(config);
  }
}

}  // namespace
}  // namespace offcpud
