// SPDX-License-Identifier: Apache-2.0
#include "mappings/file_opener.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "mappings/elf_build_id.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;

constexpr std::size_t kMountinfoLimit = std::size_t{4} << 20;
constexpr std::size_t kMaxMountTables = 64;

OpenedFile not_opened(Outcome outcome) {
  OpenedFile file;
  file.outcome = outcome;
  return file;
}

Outcome outcome_of(int code) {
  switch (code) {
    case EPERM:
    case EACCES:
      return Outcome::Denied;
    case ENOENT:
    case ESRCH:
    case ENOTDIR:
    case ELOOP:
    case EAGAIN:  // not in the cache of names: nobody mapped it a moment ago
      return Outcome::Gone;
    default:
      return Outcome::Failed;
  }
}

// A reference to what `path` names below `root`, without opening it.
UniqueFd find_cached(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED;
  for (int attempt = 0;; ++attempt) {
    UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
    // A rename anywhere makes it fail, too.
    if (fd || errno != EAGAIN || attempt == 3) return fd;
  }
}

RootId id_of(int directory, const std::string& path) {
  struct statx info {};
  // Without AT_STATX_DONT_SYNC a server would be asked.
  const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(directory, path.c_str(), flags, STATX_INO, &info) != 0) return {};
  return {makedev(info.stx_dev_major, info.stx_dev_minor), info.stx_ino};
}

bool is_wanted(const FileRequest& request, const BuildId& found, const struct statx& info) {
  if (request.build_id.known()) return found == request.build_id;
  // The device is not compared: stat() has others than mappings on btrfs and overlayfs.
  return request.inode.known() && info.stx_ino == request.inode.inode;
}

}  // namespace

ProcFileOpener::ProcFileOpener() {
  const UniqueFd memory(::memfd_create("offcpud", MFD_CLOEXEC));
  struct stat info {};
  if (memory && ::fstat(memory.get(), &info) == 0) memory_device_ = info.st_dev;
}

OpenedFile ProcFileOpener::open(const FileRequest& request) {
  OpenedFile file = open_mapped(request);
  if (file.outcome == Outcome::Opened || file.outcome == Outcome::Remote ||
      file.outcome == Outcome::NotAFile) {
    return file;
  }
  if (request.deleted || !request.path.starts_with('/')) return file;
  Outcome reason = file.outcome;
  std::vector<std::string> processes = {std::to_string(request.tgid)};
  if (request.parent_tgid != 0) processes.push_back(std::to_string(request.parent_tgid));
  processes.emplace_back("self");
  for (const std::string& process : processes) {
    file = open_path(request, process);
    if (file.outcome == Outcome::Opened) return file;
    // What was denied could have been opened; that nothing was found later does not change it.
    if (reason == Outcome::Gone) reason = file.outcome;
  }
  return not_opened(reason);
}

RootId ProcFileOpener::root_of(std::uint32_t tgid) {
  return id_of(AT_FDCWD, "/proc/" + std::to_string(tgid) + "/root");
}

OpenedFile ProcFileOpener::open_mapped(const FileRequest& request) {
  const std::string process = std::to_string(request.tgid);
  if (mounts_of(process).of_path(request.path) == MountTable::Answer::Remote) {
    return not_opened(Outcome::Remote);
  }
  std::array<char, 64> range{};
  (void)std::snprintf(range.data(), range.size(), "/map_files/%llx-%llx",
                      static_cast<unsigned long long>(request.begin),
                      static_cast<unsigned long long>(request.end));
  UniqueFd handle(::open(("/proc/" + process + range.data()).c_str(), O_PATH | O_CLOEXEC));
  if (!handle) return not_opened(outcome_of(errno));
  return examine(std::move(handle), request, process);
}

OpenedFile ProcFileOpener::open_path(const FileRequest& request, const std::string& process) {
  if (mounts_of(process).of_path(request.path) != MountTable::Answer::Local) {
    return not_opened(Outcome::Gone);  // also if the process is gone
  }
  const std::string root_path = "/proc/" + process + "/root";
  const UniqueFd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return not_opened(outcome_of(errno));
  if (request.root.known() && id_of(root.get(), "") != request.root) {
    return not_opened(Outcome::Gone);
  }
  UniqueFd handle = find_cached(root.get(), request.path);
  if (!handle) return not_opened(outcome_of(errno));
  return examine(std::move(handle), request, process);
}

OpenedFile ProcFileOpener::examine(UniqueFd handle, const FileRequest& request,
                                   const std::string& process) {
  struct statx info {};
  // Without AT_STATX_DONT_SYNC a server would be asked.
  if (::statx(handle.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
              STATX_TYPE | STATX_INO | STATX_MNT_ID, &info) != 0) {
    return not_opened(outcome_of(errno));
  }
  if (!S_ISREG(info.stx_mode)) return not_opened(Outcome::NotAFile);
  const bool in_memory =
      memory_device_ != 0 && makedev(info.stx_dev_major, info.stx_dev_minor) == memory_device_;
  if (!in_memory && mount_type(info.stx_mnt_id, process) != MountTable::Answer::Local) {
    return not_opened(Outcome::Remote);
  }
  const std::string again = "/proc/self/fd/" + std::to_string(handle.get());
  OpenedFile file;
  file.fd.reset(::open(again.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.fd) return not_opened(outcome_of(errno));
  file.build_id = read_build_id(file.fd.get());
  if (!is_wanted(request, file.build_id, info)) return not_opened(Outcome::Gone);
  file.outcome = Outcome::Opened;
  return file;
}

MountTable::Answer ProcFileOpener::mount_type(std::uint64_t mount_id, const std::string& process) {
  // A process can map a file that it does not see any more, as container runtimes do with theirs.
  const auto answer = mounts_of(process).of_mount(mount_id);
  return answer == MountTable::Answer::Unknown ? mounts_of("self").of_mount(mount_id) : answer;
}

const MountTable& ProcFileOpener::mounts_of(const std::string& process) {
  const auto known = mounts_.find(process);
  if (known != mounts_.end()) return known->second;
  if (mounts_.size() >= kMaxMountTables) mounts_.clear();
  const auto text = read_file("/proc/" + process + "/mountinfo", kMountinfoLimit);
  return mounts_.emplace(process, text ? MountTable::parse(*text) : MountTable()).first->second;
}

}  // namespace offcpud
