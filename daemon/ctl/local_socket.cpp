// SPDX-License-Identifier: Apache-2.0
#include "ctl/local_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>

#include "base/unique_handle.h"

namespace offcpud {

bool is_answered(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) return false;
  path.copy(name.sun_path, path.size());
  const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return false;
  // EAGAIN: the backlog is full, so somebody listens.
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 ||
         errno == EAGAIN;
}

}  // namespace offcpud
