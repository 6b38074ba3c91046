// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "elf/build_id.h"
#include "mappings/opened_file.h"

namespace offcpud {

// The open file as the kernel's programs tell it apart (offcpud_unwind_file_key): it is mapped for
// a moment, since nothing but its mapping tells on overlayfs. `status` is fstat()'s, and the answer
// where the file cannot be mapped. 6 us; 200 us before Linux 6.11, which has no PROCMAP_QUERY.
InodeId mapped_file_id(int fd, const struct stat& status);

// Nothing, and errno, if the descriptor tells nothing.
std::optional<FileVersion> version_of_file(int fd);
std::optional<OriginalFile> original_file(int fd);

// What the line of /proc/PID/maps says whose mapping begins at `address`.
std::optional<InodeId> find_in_maps(std::string_view maps, std::uint64_t address);

}  // namespace offcpud
