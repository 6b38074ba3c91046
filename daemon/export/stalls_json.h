// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "pipeline/stall.h"
#include "pipeline/view.h"

namespace offcpud {

// The body of /api/v1/stalls: docs/http.md. `query`: the parameters of the request, decoded. An
// error (ErrorKind::Usage) is the request's: status 400. Any thread.
Result<std::string> stalls_json(const View& view,
                                const std::multimap<std::string, std::string>& query);

}  // namespace offcpud
