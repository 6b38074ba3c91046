// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/file_rights.h"
#include "base/result.h"
#include "base/unique_handle.h"

namespace offcpud {

enum class LastLink : std::uint8_t { Follow, Refuse };

// Opens files below directories of others. An interface, so that a thread that must not wait can
// let a reader process do it (daemon/reader).
class FilesBelow {
 public:
  virtual ~FilesBelow() = default;
  // Like RootDirectory::open_file(). `process`: one that sees the files; 0: none is known.
  virtual Result<UniqueFd> open_below(int directory, std::uint32_t process, const std::string& path,
                                      LastLink last_link) = 0;
  // The rights of the file of which `fd` is a copy, as its file system says them. `fd`: from
  // open_below(), or of the object itself. Nothing: it is no copy, or its original is unknown.
  virtual std::optional<FileRights> rights_of_original(int /*fd*/) { return std::nullopt; }
};

// An O_PATH handle of what `path` means below `directory`, by the rules of RootDirectory.
UniqueFd find_below(int directory, const std::string& path, LastLink last_link);

// Opens regular files below another root directory, such as that of a container's process
// (/proc/PID/root), without ever leaving it: symbolic links and ".." in paths are resolved as for
// processes inside. Needs Linux 5.6 (openat2).
class RootDirectory {
 public:
  // Needs the rights that the directory requires: for /proc/PID/root of another user,
  // CAP_SYS_PTRACE.
  static Result<RootDirectory> open(const std::filesystem::path& path);

  // The root directory of a process; `process` is a descriptor of its directory in /proc.
  static Result<RootDirectory> of_process(int process);

  // Wraps an open directory; `files` opens what is below it.
  RootDirectory(UniqueFd directory, std::uint32_t process, FilesBelow* files)
      : fd_(std::move(directory)), process_(process), files_(files) {}

  [[nodiscard]] int descriptor() const { return fd_.get(); }

  // Opens a file for reading, without blocking, whatever it is: the caller checks that it is
  // regular. `path` starts at the root, with or without a leading slash.
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& path, LastLink last_link) const;

  // Like FilesBelow::rights_of_original().
  [[nodiscard]] std::optional<FileRights> rights_of_original(int fd) const {
    return files_ == nullptr ? std::nullopt : files_->rights_of_original(fd);
  }

 private:
  explicit RootDirectory(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::uint32_t process_ = 0;
  FilesBelow* files_ = nullptr;  // null: opens files itself
};

}  // namespace offcpud
