// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "changes/changes.h"

namespace offcpud {

// As docs/http.md says.
std::string changes_json(const Changes& changes);

}  // namespace offcpud
