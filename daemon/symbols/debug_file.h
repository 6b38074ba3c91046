// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/file_rights.h"
#include "base/unique_handle.h"
#include "elf/elf_file.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// Who may have written an open file.
struct FileAuthor {
  FileRights rights;
  bool of_copy = false;  // then `rights` come from a file system that a user may have made
};

// The author of the file; of a copy, the author of the original, which is below `root`. Nothing: a
// copy of an unknown original, so anybody may have written it.
std::optional<FileAuthor> author_of(int fd, const RootDirectory& root);

// Opens the separate debug file of an object, as installed by Debian's -dbgsym and Fedora's
// -debuginfo packages: /usr/lib/debug/.build-id/xx/yyyy.debug, or the file named by .gnu_debuglink
// beside the object, in .debug/ below it, or at the same place below /usr/lib/debug. `object_path`
// is the object's absolute path below `root`. The file must have the object's build-id, so an
// object without one has no debug file.
//
// The file must belong to root or to the object's `author`, and nobody else may have write
// permission. Otherwise a user could map another user's object in a mount namespace of his own, put
// a debug file beside it, and choose its functions' names for everybody. A copied debug file is
// used only for a copied object, because its file system says who owns it, and a user may have made
// that file system. For the same reason, a copied object has a debug file that is no copy only if
// root owns that.
std::optional<UniqueFd> find_debug_file(const ElfFile& object,
                                        const std::optional<FileAuthor>& author,
                                        const std::string& object_path, const RootDirectory& root);

}  // namespace offcpud
