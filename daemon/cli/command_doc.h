// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace offcpud {

// What a command line takes, in the words of its parser: from which the manual pages and the
// completion of shells are made.
struct OptionDoc {
  std::vector<std::string> names;    // "-o", "--output"; or the name of a positional
  std::string value;                 // as in "FILE"; empty: takes none
  std::vector<std::string> choices;  // the only values; empty: any
  std::string default_value;         // empty: none, or said in the help
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

// Of offcpud(8) and offcpuctl(1).
CommandDoc daemon_command_doc();
CommandDoc ctl_command_doc();

CommandDoc describe(const CLI::App& app);

}  // namespace offcpud
