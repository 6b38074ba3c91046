// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "elf/build_id.h"
#include "mappings/inode_id.h"

namespace offcpud {

// What is executed by the processes of a user: the contents of a file, known by build-id, so that
// copies in many containers are one object; by inode where the file has no build-id. Of each user
// his own, as a build-id is only what a file says about itself. Immutable.
struct MappedObject {
  std::uint64_t id = 0;  // never given out twice
  BuildId build_id;
  InodeId inode;  // only if there is no build-id
  // The user whose process maps it. Nothing: that was not asked in time, or it is known by inode.
  std::optional<std::uint32_t> user = std::nullopt;
};

// Where executable code of a process comes from. Immutable, shared by all mappings of it.
struct MappedFile {
  enum class Kind : std::uint8_t {
    File,
    Anonymous,  // JIT code and trampolines
    Vdso,       // the kernel's page with clock_gettime() and the like
    Other,      // another mapping that the kernel makes, such as [uprobes]
  };

  Kind kind = Kind::File;
  bool deleted = false;  // the file had no name any more when it was mapped
  std::string path;      // in the root of the process, bytes; empty if not known
  std::shared_ptr<const MappedObject> object;  // null unless kind is File
  // Whose it is was not asked of the process that maps it: what can be said of the object is not to
  // be learnt from that process.
  bool borrowed = false;
};

struct Mapping {
  std::uint64_t begin = 0;                 // address of the first byte
  std::uint64_t end = 0;                   // and behind the last one
  std::uint64_t offset = 0;                // of `begin` in the file; means nothing for other kinds
  std::shared_ptr<const MappedFile> file;  // never null

  bool operator==(const Mapping&) const = default;
};

}  // namespace offcpud
