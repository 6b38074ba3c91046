// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/file_rights.h"
#include "base/unique_handle.h"
#include "elf/elf_file.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// Who may have written a file that is open.
struct FileAuthor {
  FileRights rights;
  bool of_copy = false;  // of which its file system says so, which may be anybody's
};

// Of a copy that was made of a file below `root`, that of the original. Nothing: of a copy whose
// original is not known; it may be anybody's.
std::optional<FileAuthor> author_of(int fd, const RootDirectory& root);

// The separate debug file of an object, as Debian's -dbgsym and Fedora's -debuginfo packages
// install it: /usr/lib/debug/.build-id/xx/yyyy.debug, or what .gnu_debuglink names beside the
// object, in .debug/ below it, or at the same place below /usr/lib/debug. It counts only if it has
// the same build-id; an object without one has no debug file. And only if it belongs to root or to
// the owner of the object, whose code that is, and not everybody may write it: anybody may map an
// object of others in a mount namespace of his own, with a debug file in its place, and would
// choose the names of its functions for all. For the same reason a copy is the debug file of copies
// only: the owner of its original is what the file system says, which may be one that the user
// made. `object_path` is the object's absolute path below `root`.
std::optional<UniqueFd> find_debug_file(const ElfFile& object,
                                        const std::optional<FileAuthor>& author,
                                        const std::string& object_path, const RootDirectory& root);

}  // namespace offcpud
