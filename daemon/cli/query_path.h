// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace offcpud {

// The parameters of a request to the daemon, by name, in the order in which they are sent. The
// daemon checks the values.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;

// The path with the parameters, percent-encoded after RFC 3986, section 2.1:
// "/api/v1/top?threads=true&filter=a%20b".
std::string query_path(std::string_view path, const QueryParameters& parameters);

}  // namespace offcpud
