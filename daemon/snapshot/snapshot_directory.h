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

// What failed with a file or the directory.
struct DiskProblem {
  SnapshotFailure cause;
  Error error;
};

// A directory to which one daemon writes complete files. It is kept open; still_there() notices if
// another one takes its place. Links inside the directory and a link in its place are not followed;
// links above it are, because systemd makes /var/lib/NAME one. Not thread-safe, except that any
// thread may read files.
class SnapshotDirectory {
 public:
  struct File {
    std::string name;
    std::uint64_t bytes = 0;
  };

  // Creates the directory and its parent if they are missing (mode 0700), and locks it until the
  // object is destroyed.
  static std::variant<SnapshotDirectory, DiskProblem> open(const std::filesystem::path& path);

  // Regular files, in any order.
  [[nodiscard]] std::vector<File> files() const;

  // Writes `name` with mode 0600. A crash at any moment leaves the complete file, or nothing but a
  // temporary one. nullopt: it is done.
  std::optional<DiskProblem> write(const std::string& name, std::string_view bytes);

  // nullopt: there is no such file. Error: it cannot be read, is not a regular file, or exceeds
  // `limit`.
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
