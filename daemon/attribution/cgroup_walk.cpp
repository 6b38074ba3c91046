// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "base/unique_handle.h"

namespace offcpud {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// kernfs reports a removed directory as ENOENT or ENODEV, depending on how far the caller got.
bool is_gone(int code) {
  return code == ENOENT || code == ENODEV;
}

bool may_be_directory(const dirent& entry) {
  return entry.d_type == DT_DIR || entry.d_type == DT_UNKNOWN;
}

bool is_dot(std::string_view name) {
  return name == "." || name == "..";
}

class Walker {
 public:
  explicit Walker(dev_t device) : device_(device) {}

  // Reads the directory `fd`, which is `found[index]`, and all below it. Returns 0, or the errno
  // that ended the reading of `fd` itself.
  int read(UniqueFd fd, std::size_t index) {
    const UniqueDirectory directory(::fdopendir(fd.get()));
    if (!directory) return errno;
    (void)fd.release();  // closedir() closes it
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (entry == nullptr) return errno;
      if (may_be_directory(*entry) && !is_dot(entry->d_name)) {
        enter(::dirfd(directory.get()), entry->d_name, index);
      }
    }
  }

  std::size_t add(std::uint64_t id, std::uint64_t parent_id, std::string path) {
    walk_.found.push_back({id, parent_id, std::move(path)});
    return walk_.found.size() - 1;
  }

  CgroupWalk take() && { return std::move(walk_); }

 private:
  void enter(int parent_fd, const char* name, std::size_t parent_index) {
    const FoundCgroup& parent = walk_.found[parent_index];
    UniqueFd fd(::openat(parent_fd, name, kOpenFlags));
    const int refusal = fd ? 0 : errno;
    struct stat info {};
    const int failed =
        fd ? ::fstat(fd.get(), &info) : ::fstatat(parent_fd, name, &info, AT_SYMLINK_NOFOLLOW);
    if (failed != 0 && is_gone(errno)) return;
    if (failed == 0 && !S_ISDIR(info.st_mode)) return;
    std::string path = child_path(parent.path, name, failed == 0 ? info.st_ino : 0);
    const bool foreign = failed == 0 && info.st_dev != device_;
    if (failed != 0 || foreign || cgroup_depth(path) > kMaxCgroupDepth) {
      walk_.unread.push_back(std::move(path));
      return;
    }
    if (is_gone(refusal)) return;

    const std::size_t index = add(info.st_ino, parent.id, path);
    const int code = fd ? read(std::move(fd), index) : refusal;
    if (code != 0 && !is_gone(code)) walk_.unread.push_back(std::move(path));
  }

  dev_t device_;
  CgroupWalk walk_;
};

}  // namespace

std::string child_path(std::string_view parent, std::string_view name, std::uint64_t id) {
  std::string path(parent == "/" ? "" : parent);
  const std::string clean = to_valid_utf8(name);
  path.append("/").append(clean);
  if (clean != name) path.append("//").append(std::to_string(id));
  return path;
}

std::size_t cgroup_depth(std::string_view path) {
  if (path == "/") return 0;
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

Result<CgroupWalk> walk_cgroups(const std::filesystem::path& root) {
  // The mount point itself may be reached through a symbolic link.
  UniqueFd fd(::open(root.c_str(), kOpenFlags & ~O_NOFOLLOW));
  if (!fd) return Error::from_errno(errno, "open", root.native());
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Error::from_errno(errno, "stat", root.native());

  Walker walker(info.st_dev);
  const int code = walker.read(std::move(fd), walker.add(info.st_ino, 0, "/"));
  if (code != 0) return Error::from_errno(code, "read", root.native());
  return std::move(walker).take();
}

}  // namespace offcpud
