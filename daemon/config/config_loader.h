// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace offcpud {

inline constexpr const char* kDefaultConfigFile = "/etc/offcpud/offcpud.yaml";

// Where the configuration comes from; later sources override earlier ones: the defaults of Config,
// `file`, the *.yaml of conf.d beside it in lexical order, `settings`, `listen` and `state_dir`. A
// reload reads the same sources again.
struct ConfigSources {
  std::filesystem::path file = kDefaultConfigFile;
  bool file_required = false;         // the user named another file, which must exist
  std::vector<std::string> settings;  // KEY=VALUE each
  std::optional<std::string> listen;
  std::optional<std::string> state_dir;
};

// Reads and checks all sources; unknown keys are errors. An error names file, line and key,
// what is wrong and what is allowed: `/etc/offcpud/offcpud.yaml:12: linger: "10" has no unit
// (...); use ...`.
Result<Config> load_config(const ConfigSources& sources);

// Whether the file that web.config_file names exists. The error says where it is named:
// `/etc/offcpud/offcpud.yaml:3: web.config_file: there is no /etc/offcpud/web.yaml; ...`.
Status find_web_config_file(const Config& config, const ConfigSources& sources);

}  // namespace offcpud
