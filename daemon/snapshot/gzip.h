// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// One gzip member of all of `bytes`; the same bytes give the same result.
Result<std::string> gzip(std::string_view bytes);

// What `compressed` holds. Error: not gzip, damaged, incomplete, followed by something else, or
// more than `limit` bytes, so that a small file cannot take all memory.
Result<std::string> gunzip(std::string_view compressed, std::size_t limit);

}  // namespace offcpud
