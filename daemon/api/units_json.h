// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/unit_query.h"
#include "pipeline/view.h"

namespace offcpud {

// The body of /api/v1/units: docs/http.md, "Units". Bytes that are not UTF-8 become U+FFFD.
// `with_sites`: includes what stacks say.
std::string units_json(const View& view, const UnitQuery& query, bool with_sites);

}  // namespace offcpud
