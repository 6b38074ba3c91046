// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace offcpud {

// Removes " (deleted)" from the end of a path, which the kernel appends if the file has no name any
// more (d_path() in fs/d_path.c). Returns whether it was there. A file whose own name ends like
// this looks the same.
inline bool remove_deleted(std::string_view& path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (!path.ends_with(kDeleted)) return false;
  path.remove_suffix(kDeleted.size());
  return true;
}

}  // namespace offcpud
