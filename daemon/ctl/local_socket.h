// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// Whether somebody listens on the unix socket `path` and lets this user connect. Does not wait.
bool is_answered(const std::string& path);

}  // namespace offcpud
