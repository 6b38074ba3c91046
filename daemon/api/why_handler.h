// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/known_units.h"
#include "http/http_message.h"
#include "pipeline/view.h"

namespace offcpud {

// The answer of /api/v1/why.
Response why_response(const Request& request, const View& view, const IsLiveCgroup& is_live);

}  // namespace offcpud
