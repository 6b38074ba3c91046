// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/unique_handle.h"
#include "mappings/build_id.h"

namespace offcpud {

struct OpenedFile {
  enum class Outcome : std::uint8_t {
    Opened,
    Gone,      // the process is gone, and no file at the path is that one
    Denied,    // a capability or a permission is missing
    NotAFile,  // a device, a pipe
    Remote,    // on a file system that somebody else answers for
    Failed,    // no descriptors left, an I/O error
    Slow,      // its file system has not answered in time, or it is too large to be copied
    Refused,   // not tried, to wait no longer for those that do not answer; later it may be
  };
  static constexpr std::size_t kOutcomes = 8;

  Outcome outcome = Outcome::Gone;
  UniqueFd fd;               // open for reading if Opened; reading it waits for nobody
  BuildId build_id;          // of that file, if it has one
  std::uint64_t copied = 0;  // bytes of memory that the descriptor holds, if it is of a copy
  // The effective user of the process that maps it, asked after that was seen. Nothing: it is only
  // what the path leads to.
  std::optional<std::uint32_t> mapped_by;
};

}  // namespace offcpud
