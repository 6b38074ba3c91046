// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/command_doc.h"

namespace offcpud {

// A completion script for bash (share/bash-completion/completions/NAME). It completes commands,
// options, and known values: choices, files, folders, reasons, and keys of the configuration.
std::string bash_completion(const CommandDoc& program);

}  // namespace offcpud
