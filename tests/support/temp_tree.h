// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/unique_handle.h"

namespace offcpud {

// A directory tree under a temporary directory, removed by the destructor. Throws
// std::system_error: a test without its files cannot go on. Paths are relative to root().
class TempTree {
 public:
  struct Entry {
    std::string path;          // a directory if it ends in "/"
    std::string content = {};  // of a file
  };

  TempTree();
  TempTree(std::initializer_list<Entry> entries);
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree();

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::uint64_t inode(const std::string& path) const;

  // Creates files and directories with all that is missing above them.
  void put(std::initializer_list<Entry> entries);
  void put_link(const std::string& path, const std::string& target) const;

  // Removes an empty directory. Its inode number is not used again while the tree exists, as
  // cgroups have it: file systems hand out the number of a directory that is gone at once.
  void remove_directory(const std::string& path);
  void set_mode(const std::string& path, mode_t mode) const;

 private:
  std::filesystem::path root_;
  std::vector<UniqueFd> removed_;  // held open, so that their inodes stay taken
};

}  // namespace offcpud
