// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/file_rights.h"
#include "base/unique_handle.h"
#include "elf/build_id.h"
#include "mappings/inode_id.h"

namespace offcpud {

// Identifies a file as the kernel's programs do (offcpud_unwind_file_key), together with the time
// of its last change.
struct FileVersion {
  InodeId inode;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;

  bool operator==(const FileVersion&) const = default;
};

// The source of a copy.
struct OriginalFile {
  FileVersion version;
  FileRights rights;

  bool operator==(const OriginalFile&) const = default;
};

struct OpenedFile {
  enum class Outcome : std::uint8_t {
    Opened,
    Gone,      // the process is gone, and the path leads to another file
    Denied,    // a capability or a permission is missing
    NotAFile,  // a device, a pipe
    Remote,    // on a file system that waits for a server or another process
    Failed,    // no descriptors left, an I/O error
    Slow,      // its file system has not answered in time
    TooLarge,  // needs a copy, but exceeds the limit of one
    Refused,   // not tried, to save waiting for what does not answer; may succeed later
  };
  static constexpr std::size_t kOutcomes = 9;

  Outcome outcome = Outcome::Gone;
  UniqueFd fd;       // open for reading if Opened; reads do not wait for others
  BuildId build_id;  // of that file, if it has one
  // Of a copy: the bytes of memory that it holds. If Refused for lack of room: the bytes that a
  // copy would need; 0: refused for another reason.
  std::uint64_t copied = 0;
  std::optional<OriginalFile> original;  // of a copy
  // The effective user of the process that maps it, read after opening. Nothing: the file was found
  // by its path only.
  std::optional<std::uint32_t> mapped_by;
};

// Why an open failed with this errno.
OpenedFile::Outcome outcome_of_errno(int code);

OpenedFile not_opened(OpenedFile::Outcome outcome);

}  // namespace offcpud
