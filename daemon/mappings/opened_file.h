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

// What a copy was made of.
struct OriginalFile {
  FileVersion version;
  FileRights rights;

  bool operator==(const OriginalFile&) const = default;
};

struct OpenedFile {
  enum class Outcome : std::uint8_t {
    Opened,
    Gone,      // the process is gone, and no file at the path is that one
    Denied,    // a capability or a permission is missing
    NotAFile,  // a device, a pipe
    Remote,    // on a file system that somebody else answers for
    Failed,    // no descriptors left, an I/O error
    Slow,      // its file system has not answered in time
    TooLarge,  // it would have to be copied, and has more bytes than one may have
    Refused,   // not tried, to wait no longer for those that do not answer; later it may be
  };
  static constexpr std::size_t kOutcomes = 9;

  Outcome outcome = Outcome::Gone;
  UniqueFd fd;       // open for reading if Opened; reading it waits for nobody
  BuildId build_id;  // of that file, if it has one
  // Bytes of memory that the descriptor holds, if it is of a copy. If Refused: that a copy would
  // take, and for which there was no room; 0: it was refused for something else.
  std::uint64_t copied = 0;
  std::optional<OriginalFile> original;  // of a copy
  // The effective user of the process that maps it, asked after that was seen. Nothing: it is only
  // what the path leads to.
  std::optional<std::uint32_t> mapped_by;
};

// Why an open failed with this errno.
OpenedFile::Outcome outcome_of_errno(int code);

OpenedFile not_opened(OpenedFile::Outcome outcome);

}  // namespace offcpud
