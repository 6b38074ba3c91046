// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/config.h"

namespace offcpud {

// docs/configuration.md, from the schema.
std::string configuration_reference();

// One `key: value` line per option: what the daemon runs with, readable as a configuration file.
std::string config_text(const Config& config);

}  // namespace offcpud
