// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "http/http_message.h"

namespace offcpud {

// The answer for `/flame`, the page with the flame graph, or for its parts `/flame.css` and
// `/flame.js`. The page itself requests the snapshots, and says so when none are taken.
Response flame_page(std::string_view path);

// The answer for `/`, the page about this host, or for its parts `/overview.css` and
// `/overview.js`. The page itself requests the numbers.
Response overview_page(std::string_view path);

}  // namespace offcpud
