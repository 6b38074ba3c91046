// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "mappings/inode_id.h"
#include "mappings/opened_file.h"

namespace offcpud {

// The open file as the kernel's programs identify it (offcpud_unwind_file_key). It is mapped for a
// moment, because on overlayfs only a mapping shows that inode. `status`: from fstat(), whose inode
// is the answer if the file cannot be mapped. Takes 6 us; 200 us before Linux 6.11, which lacks
// PROCMAP_QUERY.
InodeId mapped_file_id(int fd, const struct stat& status);

// Nothing, and errno: the descriptor could not be read.
std::optional<FileVersion> version_of_file(int fd);
std::optional<OriginalFile> original_file(int fd);

// The inode in the line of /proc/PID/maps whose mapping begins at `address`.
std::optional<InodeId> find_in_maps(std::string_view maps, std::uint64_t address);

}  // namespace offcpud
