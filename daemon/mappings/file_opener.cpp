// SPDX-License-Identifier: Apache-2.0
#include "mappings/file_opener.h"

#include <fcntl.h>
#include <linux/openat2.h>
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

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;

// An O_PATH handle of what `path` means below `root`; opens nothing.
UniqueFd find_cached(int root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED;
  for (int attempt = 0;; ++attempt) {
    UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
    // Fails if there is a rename anywhere at the same time.
    if (fd || errno != EAGAIN || attempt == 3) return fd;
  }
}

RootId id_of(int directory, const std::string& path) {
  struct statx info {};
  // AT_STATX_DONT_SYNC: ask no server.
  const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(directory, path.c_str(), flags, STATX_INO, &info) != 0) return {};
  RootId root;
  root.device = makedev(info.stx_dev_major, info.stx_dev_minor);
  root.inode = info.stx_ino;
  return root;
}

// The owner of /proc/PID is the effective user, even if the process is not dumpable
// (task_dump_owner).
std::optional<std::uint32_t> user_of(const std::string& process) {
  struct statx info {};
  const std::string path = "/proc/" + process;
  if (::statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, STATX_UID, &info) != 0) return {};
  return info.stx_uid;
}

bool is_wanted(const FileRequest& request, const BuildId& found, const struct statx& info) {
  if (request.build_id.known()) return found == request.build_id;
  // The device is not compared: on btrfs and overlayfs that of stat() differs from that of
  // mappings.
  return request.inode.known() && info.stx_ino == request.inode.inode;
}

}  // namespace

OpenedFile ProcFileOpener::open(const FileRequest& request) {
  OpenedFile file = open_mapped(request);
  switch (file.outcome) {
    case Outcome::Opened:
    case Outcome::Remote:
    case Outcome::NotAFile:
    case Outcome::Slow:
    case Outcome::TooLarge:
    case Outcome::Refused:
      return file;
    default:
      break;
  }
  if (request.deleted || !request.path.starts_with('/')) return file;
  Outcome reason = file.outcome;
  std::vector<std::string> processes = {std::to_string(request.tgid)};
  if (request.parent_tgid != 0) processes.push_back(std::to_string(request.parent_tgid));
  processes.emplace_back("self");
  for (const std::string& process : processes) {
    file = open_path(request, process);
    if (file.outcome == Outcome::Opened || file.outcome == Outcome::Refused ||
        file.outcome == Outcome::TooLarge) {
      return file;
    }
    // Keep the first reason: a file whose opening was denied exists, even if no other path led to
    // it.
    if (reason == Outcome::Gone) reason = file.outcome;
  }
  return not_opened(reason);
}

RootId ProcFileOpener::root_of(std::uint32_t tgid) {
  const std::string process = std::to_string(tgid);
  RootId root = id_of(AT_FDCWD, "/proc/" + process + "/root");
  if (const auto user = user_of(process)) {
    root.user = *user;
    root.user_is = RootId::UserIs::Own;
  }
  return root;
}

OpenedFile ProcFileOpener::open_root(std::uint32_t tgid) {
  const std::string path = "/proc/" + std::to_string(tgid) + "/root";
  UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  OpenedFile root = not_opened(fd ? Outcome::Opened : outcome_of_errno(errno));
  root.fd = std::move(fd);
  return root;
}

OpenedFile ProcFileOpener::open_mapped(const FileRequest& request) {
  const std::string process = std::to_string(request.tgid);
  if (files_.of_path(process, request.path) == MountTable::Answer::Remote) {
    return not_opened(Outcome::Remote);
  }
  std::array<char, 64> range{};
  (void)std::snprintf(range.data(), range.size(), "/map_files/%llx-%llx",
                      static_cast<unsigned long long>(request.begin),
                      static_cast<unsigned long long>(request.end));
  UniqueFd handle(::open(("/proc/" + process + range.data()).c_str(), O_PATH | O_CLOEXEC));
  if (!handle) return not_opened(outcome_of_errno(errno));
  OpenedFile file = examine(std::move(handle), request, process);
  if (file.outcome == Outcome::Opened) file.mapped_by = user_of(process);
  return file;
}

OpenedFile ProcFileOpener::open_path(const FileRequest& request, const std::string& process) {
  const auto answer = files_.of_path(process, request.path);
  if (answer == MountTable::Answer::Remote || answer == MountTable::Answer::Unknown) {
    return not_opened(Outcome::Gone);  // or the process is gone
  }
  const std::string root_path = "/proc/" + process + "/root";
  const UniqueFd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return not_opened(outcome_of_errno(errno));
  if (request.root.known() && id_of(root.get(), "") != request.root) {
    return not_opened(Outcome::Gone);
  }
  UniqueFd handle = find_cached(root.get(), request.path);
  if (!handle) return not_opened(outcome_of_errno(errno));
  return examine(std::move(handle), request, process);
}

OpenedFile ProcFileOpener::examine(UniqueFd handle, const FileRequest& request,
                                   const std::string& process) {
  LocalFiles::Opening opening = files_.open(std::move(handle), process);
  if (opening.outcome != Outcome::Opened) return not_opened(opening.outcome);
  const BuildId build_id = read_build_id(opening.fd.get());
  if (!is_wanted(request, build_id, opening.info)) return not_opened(Outcome::Gone);
  OpenedFile file = files_.hand_out(std::move(opening));
  file.build_id = build_id;
  return file;
}

}  // namespace offcpud
