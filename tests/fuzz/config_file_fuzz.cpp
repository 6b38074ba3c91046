// SPDX-License-Identifier: Apache-2.0
// Configuration files: what is accepted is written and read again, what is not is explained.
#include <fstream>

#include "config/config_loader.h"
#include "config/config_schema.h"
#include "fuzz.h"
#include "support/temp_tree.h"
#include "text.h"
#include "yaml_files.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  static const TempTree tree;
  const std::string file = (tree.root() / "offcpud.yaml").native();
  std::ofstream(file, std::ios::binary) << input;
  const auto config = load_config({.file = file, .file_required = true});
  if (!config) {
    const std::string& why = config.error().message();
    require(config.error().kind() == ErrorKind::Configuration, "the file is wrong");
    require(is_printable(why), "an error is one line of text");
    return require(why.find("offcpud.yaml") != std::string::npos, "that names the file");
  }
  Config again;
  for (const Option& option : config_options()) {
    const auto status = option.parse(again, option.text(*config));
    require(static_cast<bool>(status), "what is written is accepted");
  }
  require(again == *config, "and means the same");
}

std::vector<std::string> seeds() {
  return yaml_files();
}

}  // namespace offcpud::fuzz
