// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Writes all of it or leaves what was there: a temporary file in the same directory is renamed.
// Links are followed. What is no regular file, such as a pipe, is written to as it is.
Status write_output(const std::filesystem::path& path, std::string_view bytes);

}  // namespace offcpud
