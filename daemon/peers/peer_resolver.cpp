// SPDX-License-Identifier: Apache-2.0
#include "peers/peer_resolver.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() is POSIX's
#include <sys/socket.h>

#include <cerrno>

#include "peers/peer_of.h"

namespace offcpud {

WaitPeer PeerResolver::resolve(const offcpud_sample& sample, const offcpud_peer& peer,
                               MonotonicTime now) {
  const offcpud_socket& socket = peer.socket;
  const WaitPeer found = peer_of(sample, peer);
  if (found.kind == WaitPeer::Kind::Process) {
    seen_.see(socket, found.process, now);
    return found;
  }
  if ((peer.flags & OFFCPUD_PEER_FUSE) != 0) return server_of(found);
  if (socket.family != AF_UNIX && !is_inet(socket)) return found;
  if (auto process = find(socket, now)) {
    const bool lasts = (sample.flags & OFFCPUD_SAMPLE_IN_PROGRESS) != 0;
    if (!lasts || process->local_tgid == 0 || lives_(process->local_tgid)) {
      return {.kind = WaitPeer::Kind::Process, .process = *process};
    }
  }
  if (found.kind == WaitPeer::Kind::Unknown) missed_ = true;
  return found;
}

// Without a known server it remains a wait on the file system.
WaitPeer PeerResolver::server_of(const WaitPeer& file_system) {
  const auto process = sockets_->fuse_server_of(file_system.device);
  if (process && (process->local_tgid == 0 || lives_(process->local_tgid))) {
    return {.kind = WaitPeer::Kind::Process, .process = *process};
  }
  missed_ = true;
  return file_system;
}

// A signal that the daemon may not send has somebody to whom it could be sent.
bool PeerResolver::process_lives(std::uint32_t local_tgid) {
  return ::kill(static_cast<pid_t>(local_tgid), 0) == 0 || errno != ESRCH;
}

std::optional<PeerProcess> PeerResolver::find(const offcpud_socket& socket,
                                              MonotonicTime now) const {
  if (auto process = seen_.find(socket, now)) return process;
  if (auto process = sockets_->other_end_of(socket)) return process;
  return sockets_->listener_of(socket);
}

}  // namespace offcpud
