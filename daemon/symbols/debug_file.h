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
  bool of_copy = false;  // its file system says so, which may be anybody's
};

// The file's author; of a copy of a file below `root`, the original's. Nothing: a copy whose
// original is not known, which may be anybody's.
std::optional<FileAuthor> author_of(int fd, const RootDirectory& root);

// Opens the separate debug file of an object, as Debian's -dbgsym and Fedora's -debuginfo packages
// install it: /usr/lib/debug/.build-id/xx/yyyy.debug, or the file that .gnu_debuglink names beside
// the object, in .debug/ below it, or at the same place below /usr/lib/debug. `object_path` is the
// object's absolute path below `root`. The file must have the object's build-id; an object without
// one has no debug file. The file must belong to root or to the object's `author`, and nobody else
// may write it: else anybody could map another user's object in his own mount namespace, put a
// debug file beside it, and choose its functions' names for everybody. For the same reason a copied
// debug file serves copied objects only, and an original serves a copied object only if root owns
// it: who owns the original of a copy is told by a file system that the user may have made.
std::optional<UniqueFd> find_debug_file(const ElfFile& object,
                                        const std::optional<FileAuthor>& author,
                                        const std::string& object_path, const RootDirectory& root);

}  // namespace offcpud
