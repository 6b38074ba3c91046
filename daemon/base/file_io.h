// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace offcpud {

// Reads a whole regular or /proc file of at most `limit` bytes. A longer file is an error, so that
// memory stays bounded whatever the file turns out to be. Opened with O_CLOEXEC | O_NONBLOCK, so a
// FIFO in the place of a file cannot stop the caller.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace offcpud
