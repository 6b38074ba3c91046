// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

// Opens regular files below another root directory, such as that of a container's process
// (/proc/PID/root), without ever leaving it: symbolic links and ".." in its paths are followed as
// its own processes would follow them. Needs Linux 5.6 (openat2).
class RootDirectory {
 public:
  // Needs what the directory needs: for /proc/PID/root of another user, CAP_SYS_PTRACE.
  static Result<RootDirectory> open(const std::filesystem::path& path);

  // The root directory of the process whose directory in /proc `process` is open on.
  static Result<RootDirectory> of_process(int process);

  enum class LastLink { Follow, Refuse };

  // `path` is taken from the root, with or without a leading slash. For reading, and without
  // blocking, whatever the file is: the caller checks that it is a regular one.
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& path, LastLink last_link) const;

 private:
  explicit RootDirectory(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace offcpud
