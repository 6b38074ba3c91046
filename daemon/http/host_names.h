// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

// Guards against DNS rebinding: a page in a browser can make its own name resolve to an address of
// this host and read the answers. But it cannot make the browser send another name in the Host
// header, and an IP address is not a name.

// The host in a Host header (RFC 9110, section 7.2), in lower case, without the port and without a
// final dot. Brackets stay.
std::string host_of(std::string_view header);

// True for an IP address, localhost, a name below localhost, or one of `names` (lower case); also
// for an empty header, as every browser sends one.
bool is_own_host(std::string_view header, const std::vector<std::string>& names);

// The name of this host, and the part before its first dot.
std::vector<std::string> own_host_names();

}  // namespace offcpud
