// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace offcpud {

// Whether a program listens on the unix socket `path` and this user may connect. Does not wait.
bool is_answered(const std::string& path);

}  // namespace offcpud
