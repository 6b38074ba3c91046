// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/unique_handle.h"
#include "elf/build_id.h"

namespace offcpud::test {

inline BuildId build_id_of(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return read_build_id(fd.get());
}

// The bytes of an executable file with the build-id `id` in the place of its own, so that nobody
// has seen it before; without any if `id` is empty.
inline std::string with_build_id(const std::string& path, std::string_view id) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const BuildId own = build_id_of(path);
  const std::string_view pattern(reinterpret_cast<const char*>(own.bytes.data()), own.size);
  const std::size_t at = bytes.find(pattern);
  if (at == std::string::npos || own.size == 0) std::abort();
  if (id.empty()) {
    bytes[at - 4] = 'X';  // the owner of the note, "GNU"
  } else {
    std::copy(id.begin(), id.begin() + std::min<std::ptrdiff_t>(std::ssize(id), own.size),
              bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return bytes;
}

inline void write_executable(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  std::filesystem::permissions(path, std::filesystem::perms(0755));
}

}  // namespace offcpud::test
