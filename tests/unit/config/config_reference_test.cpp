// SPDX-License-Identifier: Apache-2.0
// The files people read - the shipped configuration and the reference - say what the schema says.
#include "config/config_reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/file_io.h"
#include "config/config_schema.h"
#include "config/yaml_settings.h"
#include "support/file_limit.h"
#include "unit/config/config_tree.h"

namespace offcpud {
namespace {

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
  const auto text = read_file(kSource / "config/offcpud.yaml", test::kFileLimit);
  ASSERT_TRUE(text) << text.error().message();
  const auto settings = parse_yaml_settings(*text, "offcpud.yaml");
  ASSERT_TRUE(settings) << settings.error().message();
  std::vector<std::string> written;
  for (const YamlSetting& setting : *settings) {
    if (setting.kind != YamlSetting::Kind::Group) written.push_back(setting.key);
  }
  std::vector<std::string> known;
  for (const Option& option : config_options()) known.emplace_back(option.name);
  EXPECT_EQ(written, known);
}

TEST(ConfigReference, IsTheOneInDocs) {
  const auto path = kSource / "docs/configuration.md";
  if (std::getenv("OFFCPUD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << configuration_reference();
  }
  const auto text = read_file(path, test::kFileLimit);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, configuration_reference()) << "refresh it with OFFCPUD_UPDATE_GOLDEN=1";
}

TEST(ConfigReference, ItsExampleIsAConfigurationFile) {
  constexpr std::string_view kBegin = "```yaml\n";
  const std::string text = configuration_reference();
  const std::size_t begin = text.find(kBegin) + kBegin.size();
  const test::ConfigTree tree;
  tree.write("offcpud.yaml", text.substr(begin, text.find("```", begin) - begin));
  const auto config = load_config(tree.sources());
  ASSERT_TRUE(config) << config.error().message();
  ASSERT_EQ(config->stalls.rules.size(), 3U);
  EXPECT_EQ(config->stalls.rules[0].cgroup, "/system\\.slice/backup.*");
  ASSERT_EQ(config->processes.rules.size(), 1U);
  EXPECT_EQ(config->processes.rules[0].unit, "(nginx|postgresql@.*)\\.service");
}

TEST(ConfigText, IsAConfigurationFile) {
  for (const char* listen : {"[::1]:80", "unix:/run/a \"b\" \\c: #d", "127.0.0.1:0"}) {
    Config config;
    config.listen = listen;
    config.state_dir = "/";
    config.state_dir += "x:";
    config.linger = std::chrono::seconds(100);
    config.stalls.over = {std::chrono::milliseconds(500)};
    config.stalls.rules = {
        {.cgroup = "/a\\.b: {\"c\", d}#", .comm = "[x]", .reason = "disk", .threshold = {}},
        {.cgroup = "", .comm = "", .reason = "", .threshold = std::chrono::seconds(90)}};
    config.processes.rules = {{.comm = "-", .exe = "/usr/bin/.*", .unit = "u:", .cgroup = "/"},
                              {.comm = "null", .exe = "~", .unit = "", .cgroup = ""}};
    const test::ConfigTree tree;
    tree.write("offcpud.yaml", config_text(config));
    const auto back = load_config(tree.sources());
    ASSERT_TRUE(back) << back.error().message();
    EXPECT_EQ(*back, config) << config_text(config);
  }
}

}  // namespace
}  // namespace offcpud
