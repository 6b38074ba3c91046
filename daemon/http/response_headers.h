// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/http_message.h"

namespace offcpud {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

// All headers of a response, each name once. Later ones replace earlier ones: the headers that
// protect browsers, those of the response, those of http_server_config.headers ("" removes a
// header). Names are compared without regard to case.
HeaderList headers_of(const Response& response, const HeaderList& configured);

}  // namespace offcpud
