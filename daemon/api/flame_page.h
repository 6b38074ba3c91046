// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "http/http_message.h"

namespace offcpud {

// The flame graph: `/flame`, or one of its parts, `/flame.css` and `/flame.js`. It asks for
// snapshots by itself, and says so where none are taken.
Response flame_page(std::string_view path);

// The page `/` about this host, or one of its parts, `/overview.css` and `/overview.js`. It asks
// for its numbers by itself.
Response overview_page(std::string_view path);

}  // namespace offcpud
