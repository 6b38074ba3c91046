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

// A file as the kernel's programs tell it from others (offcpud_unwind_file_key), and the time that
// says whether it is still the same.
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
    Gone,      // the process is gone, and the path leads elsewhere
    Denied,    // a capability or a permission is missing
    NotAFile,  // a device, a pipe
    Remote,    // on a file system that somebody else serves
    Failed,    // no descriptors left, an I/O error
    Slow,      // its file system has not answered in time
    TooLarge,  // needs a copy, and is larger than a copy may be
    Refused,   // not tried, to wait no longer for those that do not answer; later it may be
  };
  static constexpr std::size_t kOutcomes = 9;

  Outcome outcome = Outcome::Gone;
  UniqueFd fd;       // open for reading if Opened; reading it waits for nobody
  BuildId build_id;  // of that file, if it has one
  // Of a copy: bytes of memory that it holds. If Refused for lack of room: bytes that a copy would
  // take; 0: refused for something else.
  std::uint64_t copied = 0;
  std::optional<OriginalFile> original;  // of a copy
  // The effective user of the process seen to map it, asked afterwards. Nothing: the file was only
  // found by its path.
  std::optional<std::uint32_t> mapped_by;
};

// Why an open failed with this errno.
OpenedFile::Outcome outcome_of_errno(int code);

OpenedFile not_opened(OpenedFile::Outcome outcome);

}  // namespace offcpud
