// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "why/lock_releasers.h"

namespace offcpud {

// Who ended waits for a lock before, as answers have it; null: nothing is told.
nlohmann::ordered_json releasers_json(const std::shared_ptr<const LockReleasers>& released);

}  // namespace offcpud
