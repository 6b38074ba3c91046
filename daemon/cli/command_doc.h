// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace offcpud {

// What a command line accepts, as its parser describes it. Manual pages and shell completions are
// made from this.
struct OptionDoc {
  std::vector<std::string> names;    // "-o", "--output"; or the name of a positional argument
  std::string value;                 // such as "FILE"; empty: the option takes none
  std::vector<std::string> choices;  // the only values allowed; empty: any
  std::string default_value;         // empty: none, or `help` says it
  std::string help;
  bool positional = false;
};

bool is_help(const OptionDoc& option);

struct CommandDoc {
  std::string name;
  std::string help;
  std::vector<OptionDoc> options;    // in the order of --help
  std::vector<CommandDoc> commands;  // subcommands
};

// The command lines of offcpud(8) and offcpuctl(1).
CommandDoc daemon_command_doc();
CommandDoc ctl_command_doc();

CommandDoc describe(const CLI::App& app);

}  // namespace offcpud
