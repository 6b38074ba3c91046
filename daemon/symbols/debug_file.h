// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/unique_handle.h"
#include "elf/elf_file.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// The separate debug file of an object, as Debian's -dbgsym and Fedora's -debuginfo packages
// install it: /usr/lib/debug/.build-id/xx/yyyy.debug, or what .gnu_debuglink names beside the
// object, in .debug/ below it, or at the same place below /usr/lib/debug. It counts only if it has
// the same build-id; an object without one has no debug file. And only if it belongs to root or to
// `object_owner`, whose code the object is, and nobody else may write it: anybody may map an object
// of others in a mount namespace of his own, with a debug file in its place, and would choose the
// names of its functions for all. `object_path` is the object's absolute path below `root`.
std::optional<UniqueFd> find_debug_file(const ElfFile& object, uid_t object_owner,
                                        const std::string& object_path, const RootDirectory& root);

}  // namespace offcpud
