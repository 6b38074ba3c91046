// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace offcpud {

// The page /flame with its parts and an answer of /api/v1/snapshots/merge or /difference, in one
// file that needs neither a daemon nor a network.
Result<std::string> flame_html(const std::string& json);

}  // namespace offcpud
