// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace offcpud {

// Guards against DNS rebinding: a page in a browser can have its own name resolve to an address of
// this host and read what is answered, but it cannot make the browser send another name than its
// own in the Host header, and an IP address is no name.

// The host of a Host header (RFC 9110, section 7.2): without the port, in lower case, without the
// dot at the end. Brackets stay.
std::string host_of(std::string_view header);

// True for an IP address, localhost, a name below localhost, or one of `names` (lower case). True
// for an empty header: only clients that are no browsers leave it out.
bool is_own_host(std::string_view header, const std::vector<std::string>& names);

// The name of this host, and the part before its first dot.
std::vector<std::string> own_host_names();

}  // namespace offcpud
