// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace offcpud {

// The parameters of a question to the daemon, by name, in the order they are sent. The daemon
// checks the values.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// "/api/v1/top?threads=true&filter=a%20b"; percent-encoding after RFC 3986, section 2.1.
std::string query_path(std::string_view path, const QueryParameters& parameters);

}  // namespace offcpud
