// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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

// Reads and checks all sources; unknown keys are errors. An error names file, line and key, what is
// wrong and what is allowed: `/etc/offcpud/offcpud.yaml:12: linger: "10" has no unit (...); use
// ...`.
Result<Config> load_config(const ConfigSources& sources);

// Whether the file that web.config_file names exists. The error says where it is named:
// `/etc/offcpud/offcpud.yaml:3: web.config_file: there is no /etc/offcpud/web.yaml; ...`.
Status find_web_config_file(const Config& config, const ConfigSources& sources);

// Checks whether the daemon may run with the defaults although the default main file does not
// exist. It may have been lost, and with it what protects the daemon. So its absence is an error if
// other hosts reach the daemon at `reached_at` (empty: they do not) and web.config_file is not set,
// or if push.url sends stacks to another host.
Status check_absent_file(const Config& config, const ConfigSources& sources,
                         std::string_view reached_at);

// The value of `listen` if other hosts reach it; empty for a unix socket, a loopback address and
// localhost. Asks no name server: any other name counts as reached.
std::string exposed_address(const Config& config);

}  // namespace offcpud
