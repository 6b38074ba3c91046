// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace offcpud {

// Parses the kernel's format for lists of CPUs, as in /sys/devices/system/cpu/online: "0-3,8\n".
Result<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace offcpud
