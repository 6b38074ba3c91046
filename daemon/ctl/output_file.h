// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Writes all bytes, or leaves the file unchanged: renames a temporary file in the same directory.
// Follows links. Writes directly to what is not a regular file, such as a pipe.
Status write_output(const std::filesystem::path& path, std::string_view bytes);

}  // namespace offcpud
