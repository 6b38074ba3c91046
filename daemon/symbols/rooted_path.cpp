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

Result<UniqueFd> RootDirectory::open_file(const std::string& path, LastLink last_link) const {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (last_link == LastLink::Refuse) how.flags |= O_NOFOLLOW;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  // The C library has no function for it.
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, fd_.get(), path.c_str(), &how, sizeof(how))));
  if (!fd) return Error::from_errno(errno, "open", path);
  return fd;
}

}  // namespace offcpud
