// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "api/units_json.h"
#include "support/times.h"

namespace offcpud::test {

// The answer to /api/v1/units with these parameters.
inline nlohmann::json units_of(const View& view,
                               const std::multimap<std::string, std::string>& parameters = {}) {
  return nlohmann::json::parse(units_json(view, *UnitQuery::parse(parameters, kNow), true));
}

}  // namespace offcpud::test
