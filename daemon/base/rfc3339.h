// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/clock.h"

namespace offcpud {

// "2026-11-20T12:19:40.250Z": UTC, milliseconds, cut off rather than rounded.
std::string rfc3339(WallTime time);

}  // namespace offcpud
