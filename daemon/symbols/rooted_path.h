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

// Opens files below directories that belong to others. Seam: who must not wait has it done by
// somebody who may (daemon/reader).
class FilesBelow {
 public:
  virtual ~FilesBelow() = default;
  // As RootDirectory::open_file(). `process` is one that sees the files; 0: none is known.
  virtual Result<UniqueFd> open_below(int directory, std::uint32_t process, const std::string& path,
                                      LastLink last_link) = 0;
  // Of what a descriptor of open_below(), or of the object itself, is a copy of, as its file system
  // says. Nothing: it is no copy, or nobody knows of what.
  virtual std::optional<FileRights> rights_of_original(int /*fd*/) { return std::nullopt; }
};

// A reference (O_PATH) to what `path` names below `directory`, by the rules of RootDirectory.
UniqueFd find_below(int directory, const std::string& path, LastLink last_link);

// Opens regular files below another root directory, such as that of a container's process
// (/proc/PID/root), without ever leaving it: symbolic links and ".." in its paths are followed as
// its own processes would follow them. Needs Linux 5.6 (openat2).
class RootDirectory {
 public:
  // Needs what the directory needs: for /proc/PID/root of another user, CAP_SYS_PTRACE.
  static Result<RootDirectory> open(const std::filesystem::path& path);

  // The root directory of the process whose directory in /proc `process` is open on.
  static Result<RootDirectory> of_process(int process);

  // A directory that is open; `files` opens what is below it.
  RootDirectory(UniqueFd directory, std::uint32_t process, FilesBelow* files)
      : fd_(std::move(directory)), process_(process), files_(files) {}

  [[nodiscard]] int descriptor() const { return fd_.get(); }

  // `path` is taken from the root, with or without a leading slash. For reading, and without
  // blocking, whatever the file is: the caller checks that it is a regular one.
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& path, LastLink last_link) const;

  // As FilesBelow::rights_of_original().
  [[nodiscard]] std::optional<FileRights> rights_of_original(int fd) const {
    return files_ == nullptr ? std::nullopt : files_->rights_of_original(fd);
  }

 private:
  explicit RootDirectory(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::uint32_t process_ = 0;
  FilesBelow* files_ = nullptr;  // null: it does so itself
};

}  // namespace offcpud
