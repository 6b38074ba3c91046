// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command_doc.h"

namespace offcpud {

// The texts that replace the marks @NAME@ in the templates of docs/man: lists of options, commands
// and metrics in the language of man(7), made from the tables that the programs use.
using ManualParts = std::map<std::string, std::string, std::less<>>;
ManualParts manual_parts(std::string_view version);

// The options and positionals of a command.
std::string option_items(const CommandDoc& command);

// Returns the template with its marks replaced. Error: a mark without a part, and its line.
Result<std::string> fill_manual_template(std::string_view text, const ManualParts& parts);

}  // namespace offcpud
