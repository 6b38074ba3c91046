// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace offcpud {

// Options whose values differ and that take effect only on a restart, in the order of the schema.
std::vector<std::string> keys_needing_restart(const Config& running, const Config& wanted);

// The configuration after a reload: reloadable options from `wanted`, the others from `running`.
Config config_after_reload(const Config& running, const Config& wanted);

}  // namespace offcpud
