// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command_doc.h"

namespace offcpud {

// What the templates in docs/man say as @NAME@: lists of options, commands and metrics in the
// language of man(7), from the tables that the programs go by.
using ManualParts = std::map<std::string, std::string, std::less<>>;
ManualParts manual_parts(std::string_view version);

// The options of a command, its positionals among them.
std::string option_items(const CommandDoc& command);

// The template with its marks replaced. Error: a mark that is no part, with its line.
Result<std::string> fill_manual_template(std::string_view text, const ManualParts& parts);

}  // namespace offcpud
