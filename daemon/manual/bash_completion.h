// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/command_doc.h"

namespace offcpud {

// A completion for bash (share/bash-completion/completions/NAME): commands, options, and the values
// that are known - choices, files, folders, reasons, and the keys of the configuration.
std::string bash_completion(const CommandDoc& program);

}  // namespace offcpud
