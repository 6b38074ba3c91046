// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "elf/build_id.h"
#include "mappings/inode_id.h"

namespace offcpud {

// Code that processes of one user execute. It is identified by the build-id of its file, so that
// copies in many containers are one object, or by inode if the file has no build-id. Each user has
// separate objects, because a build-id is only what a file claims. Immutable.
struct MappedObject {
  std::uint64_t id = 0;  // never reused
  BuildId build_id;
  InodeId inode;  // only if there is no build-id
  // The user whose process maps it. Nothing: that could not be asked in time, or the object is
  // known by inode.
  std::optional<std::uint32_t> user = std::nullopt;
};

// The source of executable code in a process. Immutable; all its mappings share it.
struct MappedFile {
  enum class Kind : std::uint8_t {
    File,
    Anonymous,  // JIT code and trampolines
    Vdso,       // the page of the kernel with clock_gettime() and the like
    Other,      // another mapping made by the kernel, such as [uprobes]
  };

  Kind kind = Kind::File;
  bool deleted = false;  // the file had no name left when it was mapped
  std::string path;      // in the root of the process; bytes; empty: not known
  std::shared_ptr<const MappedObject> object;  // null unless kind is File
  // The process was gone before it could be asked for its user (see FileTable), so nothing about
  // the object may be learnt from it.
  bool borrowed = false;
};

struct Mapping {
  std::uint64_t begin = 0;                 // address of the first byte
  std::uint64_t end = 0;                   // address after the last byte
  std::uint64_t offset = 0;                // of `begin` in the file; meaningless for other kinds
  std::shared_ptr<const MappedFile> file;  // never null

  bool operator==(const Mapping&) const = default;
};

}  // namespace offcpud
