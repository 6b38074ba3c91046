// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "config/config_loader.h"

namespace offcpud {

// What the command line asks the daemon to do.
enum class Action {
  Run,
  CheckConfig,    // load the configuration and exit
  PrintFeatures,  // print what this kernel offers, and exit
  PrintText,      // print CliOptions::text (help or version) and exit
};

struct CliOptions {
  Action action = Action::Run;
  ConfigSources sources;
  std::string text;
};

// Parses the command line of offcpud. Neither prints nor exits. Errors are ErrorKind::Usage and
// refer to --help. load_config() checks the values of options.
Result<CliOptions> parse_command_line(int argc, const char* const* argv);

}  // namespace offcpud
