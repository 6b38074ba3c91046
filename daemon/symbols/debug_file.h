// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/unique_handle.h"
#include "symbols/elf_file.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// The separate debug file of an object, as Debian's -dbgsym and Fedora's -debuginfo packages
// install it: /usr/lib/debug/.build-id/xx/yyyy.debug, or what .gnu_debuglink names beside the
// object, in .debug/ below it, or at the same place below /usr/lib/debug. It counts only if it has
// the same build-id; an object without one has no debug file. `object_path` is the object's
// absolute path below `root`.
std::optional<UniqueFd> find_debug_file(const ElfFile& object, const std::string& object_path,
                                        const RootDirectory& root);

}  // namespace offcpud
