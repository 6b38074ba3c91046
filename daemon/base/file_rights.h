// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// Who owns a file and who may write it, from stat(). Copied between processes byte by byte.
struct FileRights {
  std::uint32_t owner = 0;  // as numbered in our user namespace
  std::uint32_t mode = 0;   // st_mode

  bool operator==(const FileRights&) const = default;
};

}  // namespace offcpud
