// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "config/config_loader.h"
#include "ctl/stacks_program.h"

namespace offcpud {

// Reads the files of a configuration. The text has all values; the note has warnings, and says how
// the daemon takes the configuration over. An error says what is wrong, and what that means for the
// daemon. Certificates and keys, which those files name, are not read: only offcpud opens them, as
// its own user.
Result<StacksOutput> check_config(const ConfigSources& sources);

}  // namespace offcpud
