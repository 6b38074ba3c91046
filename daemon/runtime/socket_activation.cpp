// SPDX-License-Identifier: Apache-2.0
#include "runtime/socket_activation.h"

#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <string>

namespace offcpud {

Result<std::optional<UniqueFd>> activated_socket() {
  const int count = sd_listen_fds(/*unset_environment=*/1);
  if (count < 0) return Error::from_errno(-count, "take the sockets of the service manager");
  if (count == 0) return std::optional<UniqueFd>();
  if (count > 1) {
    return Error("the service manager passed " + std::to_string(count) +
                     " sockets; offcpud.socket may have one ListenStream= only",
                 ErrorKind::Configuration);
  }
  UniqueFd fd(SD_LISTEN_FDS_START);
  if (sd_is_socket(fd.get(), AF_UNSPEC, SOCK_STREAM, /*listening=*/1) <= 0) {
    return Error(
        "the service manager passed something else than a listening stream socket; "
        "offcpud.socket needs ListenStream=",
        ErrorKind::Configuration);
  }
  return std::optional(std::move(fd));
}

}  // namespace offcpud
