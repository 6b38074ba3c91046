// SPDX-License-Identifier: Apache-2.0
#include "symbols/rooted_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace offcpud {

Result<RootDirectory> RootDirectory::open(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "open", path.native());
  return RootDirectory(std::move(fd));
}

Result<RootDirectory> RootDirectory::of_process(int process) {
  UniqueFd fd(::openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(errno, "open", "root of process");
  return RootDirectory(std::move(fd));
}

namespace {

// The C library has no wrapper for this call.
UniqueFd open_in_root(int directory, const std::string& path, std::uint64_t flags,
                      LastLink last_link) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  if (last_link == LastLink::Refuse) how.flags |= O_NOFOLLOW;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how))));
}

}  // namespace

UniqueFd find_below(int directory, const std::string& path, LastLink last_link) {
  return open_in_root(directory, path, O_PATH, last_link);
}

Result<UniqueFd> RootDirectory::open_file(const std::string& path, LastLink last_link) const {
  if (files_ != nullptr) return files_->open_below(fd_.get(), process_, path, last_link);
  UniqueFd fd = open_in_root(fd_.get(), path, O_RDONLY | O_NONBLOCK | O_NOCTTY, last_link);
  if (!fd) return Error::from_errno(errno, "open", path);
  return fd;
}

}  // namespace offcpud
