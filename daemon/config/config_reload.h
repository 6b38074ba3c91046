// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace offcpud {

// Keys that differ and only take effect on a restart, in the order of the schema.
std::vector<std::string> keys_needing_restart(const Config& running, const Config& wanted);

// What to run with after a reload: the reloadable options of `wanted`, the others of `running`.
Config config_after_reload(const Config& running, const Config& wanted);

}  // namespace offcpud
