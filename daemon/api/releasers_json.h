// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>

#include "why/lock_releasers.h"

namespace offcpud {

// Who ended earlier waits for a lock, as answers in JSON say it. null: nobody is named.
nlohmann::ordered_json releasers_json(const std::shared_ptr<const LockReleasers>& released);

}  // namespace offcpud
