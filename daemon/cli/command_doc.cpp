// SPDX-License-Identifier: Apache-2.0
#include "cli/command_doc.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace offcpud {
namespace {

// CLI11 appends the values that its checks allow to the label: "STATE:{in_progress,ended}".
void read_type(const std::string& type, OptionDoc& doc) {
  const std::size_t colon = type.find(':');
  doc.value = type.substr(0, colon);
  const std::size_t open = type.find(":{");
  if (open == std::string::npos) return;
  const std::size_t begin = open + 2;
  std::istringstream choices(type.substr(begin, type.find('}', begin) - begin));
  for (std::string choice; std::getline(choices, choice, ',');) doc.choices.push_back(choice);
}

OptionDoc describe(const CLI::Option& option) {
  OptionDoc doc;
  doc.positional = option.get_positional();
  for (const std::string& name : option.get_snames()) doc.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) doc.names.push_back("--" + name);
  if (doc.positional) doc.names = {option.get_name(true)};
  if (option.get_items_expected_max() > 0) {
    read_type(option.get_type_name(), doc);
    doc.default_value = option.get_default_str();
  }
  doc.help = option.get_description();
  return doc;
}

}  // namespace

bool is_help(const OptionDoc& option) {
  return option.names.back() == "--help";
}

CommandDoc describe(const CLI::App& app) {
  CommandDoc doc{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) doc.options.push_back(describe(*option));
  for (const CLI::App* inner : app.get_subcommands({})) {
    CommandDoc command = describe(*inner);
    // An option group is a subcommand without a name; its options belong to the command.
    if (inner->get_name().empty()) {
      // Drops the group's own --help: the command has one.
      std::erase_if(command.options, is_help);
      doc.options.insert(doc.options.end(), command.options.begin(), command.options.end());
    } else {
      doc.commands.push_back(std::move(command));
    }
  }
  return doc;
}

}  // namespace offcpud
