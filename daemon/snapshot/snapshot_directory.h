// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "snapshot/snapshot_failure.h"

namespace offcpud {

// What went wrong with a file or the directory.
struct DiskProblem {
  SnapshotFailure cause;
  Error error;
};

// A directory that one daemon writes files to, whole or not at all. It is held open: what is put in
// its place later is noticed by still_there(). Links in its place and links inside it are not
// followed; those above it are, as systemd makes /var/lib/NAME one. Not thread-safe, but the files
// of a held directory may be read by any thread.
class SnapshotDirectory {
 public:
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
  };

  // Makes the directory, and the one above it, where they are missing (mode 0700); locks it until
  // this object is destroyed.
  static std::variant<SnapshotDirectory, DiskProblem> open(const std::filesystem::path& path);

  // Regular files, in no order.
  [[nodiscard]] std::vector<File> files() const;

  // Writes `name` so that a crash at any moment leaves all of it or nothing but a temporary file;
  // mode 0600. nullopt: done.
  std::optional<DiskProblem> write(const std::string& name, std::string_view bytes);

  // nullopt: there is no such file. Error: it cannot be read, is no regular file, or larger.
  [[nodiscard]] Result<std::optional<std::string>> read(const std::string& name,
                                                        std::uint64_t limit) const;

  void remove(const std::string& name);

  // Whether the path still leads to this directory.
  [[nodiscard]] bool still_there() const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  SnapshotDirectory(std::filesystem::path path, UniqueFd fd)
      : path_(std::move(path)), fd_(std::move(fd)) {}

  [[nodiscard]] DiskProblem problem(int code, const char* operation, const std::string& name) const;

  std::filesystem::path path_;
  UniqueFd fd_;
};

}  // namespace offcpud
