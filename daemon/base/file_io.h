// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Reads a whole regular or /proc file of at most `limit` bytes. A longer file is an error, so that
// memory stays bounded whatever the file turns out to be. Opened with O_CLOEXEC | O_NONBLOCK, so a
// FIFO in the place of a file cannot stop the caller.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

// Writes all of it, however many calls that takes. 0, or an errno.
int write_all(int fd, std::string_view bytes);

}  // namespace offcpud
