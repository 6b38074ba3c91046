// SPDX-License-Identifier: Apache-2.0
// The subset of YAML of configuration files.
#include "config/yaml_settings.h"
#include "fuzz.h"
#include "text.h"
#include "yaml_files.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const std::string text(input);
  const auto lines = static_cast<std::size_t>(std::count(input.begin(), input.end(), '\n')) +
                     static_cast<std::size_t>(std::count(input.begin(), input.end(), '\r')) + 1;
  const auto settings = parse_yaml_settings(text, "file.yaml");
  if (!settings) {
    const std::string& why = settings.error().message();
    require(why.starts_with("file.yaml:"), "an error says where");
    require(!is_utf8(input) || is_printable(why), "in one line of text");
  } else {
    for (const YamlSetting& setting : *settings) {
      require(!setting.key.empty(), "a setting has a key");
      require(setting.line >= 1 && setting.line <= lines, "on a line of the file");
      require(setting.kind == YamlKind::List || setting.items.empty(), "lists have items");
    }
  }
  (void)parse_yaml_value(text);
}

std::vector<std::string> seeds() {
  return yaml_files();
}

}  // namespace offcpud::fuzz
