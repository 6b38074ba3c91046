// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace offcpud {

// Whose a file is, and who else may write it, as stat() says. Crosses processes as its bytes.
struct FileRights {
  std::uint32_t owner = 0;  // by its number in our user namespace
  std::uint32_t mode = 0;   // st_mode

  bool operator==(const FileRights&) const = default;
};

}  // namespace offcpud
