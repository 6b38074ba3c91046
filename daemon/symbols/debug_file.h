// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/unique_handle.h"
#include "elf/elf_file.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// Opens the separate debug file of an object, as Debian's -dbgsym and Fedora's -debuginfo packages
// install it: /usr/lib/debug/.build-id/xx/yyyy.debug, or the file that .gnu_debuglink names beside
// the object, in .debug/ below it, or at the same place below /usr/lib/debug. `object_path` is the
// object's absolute path below `root`. The file must have the object's build-id; an object without
// one has no debug file. The file must belong to root or to `object_owner`, and nobody else may
// write it: anybody may map another user's object in a mount namespace of his own, put a debug file
// beside it, and would choose the names of its functions for everybody.
std::optional<UniqueFd> find_debug_file(const ElfFile& object, uid_t object_owner,
                                        const std::string& object_path, const RootDirectory& root);

}  // namespace offcpud
