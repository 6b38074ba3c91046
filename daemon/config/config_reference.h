// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/config.h"

namespace offcpud {

// The text of docs/configuration.md, made from the schema.
std::string configuration_reference();

// The configuration that the daemon runs with, one `key: value` line per option, as a file that the
// daemon could read.
std::string config_text(const Config& config);

}  // namespace offcpud
