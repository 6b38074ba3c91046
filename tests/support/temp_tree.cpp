// SPDX-License-Identifier: Apache-2.0
#include "support/temp_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

namespace offcpud {
namespace {

namespace fs = std::filesystem;

void require(bool ok, const fs::path& path) {
  if (!ok) throw std::system_error(errno, std::generic_category(), path.native());
}

}  // namespace

TempTree::TempTree() {
  std::string name = (fs::temp_directory_path() / "offcpud-test-XXXXXX").native();
  require(::mkdtemp(name.data()) != nullptr, name);
  root_ = name;
}

TempTree::TempTree(std::initializer_list<Entry> entries) : TempTree() {
  put(entries);
}

TempTree::~TempTree() {
  std::error_code ignored;  // what a test made unreadable must become readable to be removed
  for (fs::recursive_directory_iterator item(root_, ignored), end; item != end;
       item.increment(ignored)) {
    if (item->is_directory(ignored) && !item->is_symlink(ignored)) {
      fs::permissions(item->path(), fs::perms::owner_all, ignored);
    }
  }
  fs::remove_all(root_, ignored);
}

std::uint64_t TempTree::inode(const std::string& path) const {
  const fs::path full = root_ / path;
  struct stat info {};
  require(::lstat(full.c_str(), &info) == 0, full);
  return info.st_ino;
}

void TempTree::put(std::initializer_list<Entry> entries) {
  for (const Entry& entry : entries) {
    const fs::path full = root_ / entry.path;
    fs::create_directories(full.parent_path());
    if (entry.path.ends_with('/')) continue;
    std::ofstream file(full, std::ios::binary);
    require(static_cast<bool>(file << entry.content << std::flush), full);
  }
}

void TempTree::put_link(const std::string& path, const std::string& target) const {
  fs::create_directories((root_ / path).parent_path());
  fs::create_symlink(target, root_ / path);
}

void TempTree::remove_directory(const std::string& path) {
  const fs::path full = root_ / path;
  UniqueFd held(::open(full.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  require(static_cast<bool>(held), full);
  require(::rmdir(full.c_str()) == 0, full);
  removed_.push_back(std::move(held));
}

void TempTree::set_mode(const std::string& path, mode_t mode) const {
  const fs::path full = root_ / path;
  require(::chmod(full.c_str(), mode) == 0, full);
}

}  // namespace offcpud
