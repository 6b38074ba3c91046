// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/http_message.h"

namespace offcpud {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// All headers of a response, each once: those that every response has for the sake of browsers,
// those of the response in their place, and last those of http_server_config.headers in place of
// both ("" takes one away). Names are compared without regard to case.
HeaderList headers_of(const Response& response, const HeaderList& configured);

}  // namespace offcpud
