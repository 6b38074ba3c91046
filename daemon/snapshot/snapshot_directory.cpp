// SPDX-License-Identifier: Apache-2.0
#include "snapshot/snapshot_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file_io.h"
#include "snapshot/snapshot_name.h"

namespace offcpud {
namespace {

constexpr mode_t kDirectoryMode = 0700;  // it contains stacks and names of everybody's processes
constexpr mode_t kFileMode = 0600;

// Returns 0 or an errno.
int write_durably(int fd, std::string_view bytes) {
  if (const int code = write_all(fd, bytes); code != 0) return code;
  // Some file systems, and every quota over a network, only now know whether there was room.
  return ::fsync(fd) == 0 ? 0 : errno;
}

DiskProblem directory_problem(int code, const char* operation, const std::filesystem::path& path) {
  const bool is_no_directory = code == ENOTDIR || code == ELOOP;
  if (!is_no_directory) {
    return {snapshot_failure_of(code), Error::from_errno(code, operation, path.native())};
  }
  return {SnapshotFailure::Directory, Error(std::string(operation) + " '" + path.native() +
                                            "': not a directory; links are not followed")};
}

}  // namespace

SnapshotFailure snapshot_failure_of(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return SnapshotFailure::DiskFull;
    case EROFS:
      return SnapshotFailure::ReadOnly;
    case EACCES:
    case EPERM:
      return SnapshotFailure::Permission;
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return SnapshotFailure::Directory;
    case EFBIG:
      return SnapshotFailure::TooLarge;
    default:
      return SnapshotFailure::Io;
  }
}

std::variant<SnapshotDirectory, DiskProblem> SnapshotDirectory::open(
    const std::filesystem::path& path) {
  for (const auto& each : {path.parent_path(), path}) {
    if (::mkdir(each.c_str(), kDirectoryMode) == 0 || errno == EEXIST) continue;
    const int code = errno;  // irrelevant if the directory exists
    struct stat info {};
    if (::stat(each.c_str(), &info) != 0) return directory_problem(code, "make directory", each);
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return directory_problem(errno, "open directory", path);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return directory_problem(errno, "lock directory", path);
    return DiskProblem{SnapshotFailure::InUse,
                       Error("directory '" + path.native() + "' belongs to another offcpud")};
  }
  return SnapshotDirectory(path, std::move(fd));
}

DiskProblem SnapshotDirectory::problem(int code, const char* operation,
                                       const std::string& name) const {
  return {snapshot_failure_of(code), Error::from_errno(code, operation, (path_ / name).native())};
}

std::vector<SnapshotDirectory::File> SnapshotDirectory::files() const {
  std::vector<File> files;
  UniqueFd again(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return files;
  const UniqueDirectory list(::fdopendir(again.get()));
  if (!list) return files;
  (void)again.release();
  while (const dirent* const item = ::readdir(list.get())) {
    struct stat info {};
    if (::fstatat(fd_.get(), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode)) continue;
    files.push_back({item->d_name, static_cast<std::uint64_t>(info.st_size)});
  }
  return files;
}

std::optional<DiskProblem> SnapshotDirectory::write(const std::string& name,
                                                    std::string_view bytes) {
  const std::string temporary = temporary_name(name);
  remove(temporary);  // whatever this name is, it must not be opened
  const UniqueFd file(::openat(fd_.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file) return problem(errno, "create", temporary);
  if (const int code = write_durably(file.get(), bytes); code != 0) {
    remove(temporary);
    return problem(code, "write", name);
  }
  if (::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()) != 0) {
    const int code = errno;
    remove(temporary);
    return problem(code, "rename to", name);
  }
  if (::fsync(fd_.get()) != 0) {
    const int code = errno;
    remove(name);
    return problem(code, "sync", name);
  }
  return std::nullopt;
}

Result<std::optional<std::string>> SnapshotDirectory::read(const std::string& name,
                                                           std::uint64_t limit) const {
  const std::string full = (path_ / name).native();
  const UniqueFd file(
      ::openat(fd_.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::optional<std::string>();
  if (!file) return Error::from_errno(errno, "open", full);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return Error::from_errno(errno, "stat", full);
  if (!S_ISREG(info.st_mode)) return Error("read '" + full + "': not a regular file");
  if (static_cast<std::uint64_t>(info.st_size) > limit) {
    return Error("read '" + full + "': larger than " + std::to_string(limit) + " bytes");
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "read", full);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return std::optional<std::string>(std::move(bytes));
}

void SnapshotDirectory::remove(const std::string& name) {
  (void)::unlinkat(fd_.get(), name.c_str(), 0);
}

bool SnapshotDirectory::still_there() const {
  struct stat ours {
  }, there{};
  return ::fstat(fd_.get(), &ours) == 0 && ::lstat(path_.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

}  // namespace offcpud
