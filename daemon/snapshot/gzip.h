// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Compresses `bytes` to one gzip member. Equal bytes give equal results.
Result<std::string> gzip(std::string_view bytes);

// Decompresses `compressed`. Error: it is not gzip, damaged, incomplete or followed by something
// else, or the result exceeds `limit` bytes. The limit keeps a small file from using up the memory.
Result<std::string> gunzip(std::string_view compressed, std::size_t limit);

}  // namespace offcpud
