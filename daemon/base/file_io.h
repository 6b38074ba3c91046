// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace offcpud {

// Reads a whole regular or /proc file of at most `limit` bytes. A longer file is an error, which
// bounds the memory. Opens with O_CLOEXEC | O_NONBLOCK, so a FIFO with the file's name cannot block
// the caller.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

// Writes all bytes, in as many calls as that takes. Returns 0 or an errno.
int write_all(int fd, std::string_view bytes);

}  // namespace offcpud
