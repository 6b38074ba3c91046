// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace offcpud {

// Who connected to a unix socket, in the user namespace of the daemon: root of a namespace that a
// user made for himself has that user's id here, not 0 (kernel: cred_to_ucred in net/core/sock.c).
struct PeerCredentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // the effective one and the supplementary ones
};

// Of the other end of a connection; nullopt: it is no unix socket, or the id of the user has no
// counterpart in this namespace, so that nobody can say who it is. As they were when the peer
// called connect(2); see unix(7), SO_PEERCRED and SO_PEERGROUPS.
std::optional<PeerCredentials> peer_credentials(int fd);

// Whom a limit for each peer counts as one on a unix socket: a user.
std::string peer_name(const PeerCredentials& credentials);

// Who may see what /proc shows to root alone: root, the user of the daemon itself, and the members
// of one group.
struct TrustedPeers {
  uid_t own_uid = 0;
  std::optional<gid_t> group;  // web.socket_group

  [[nodiscard]] bool include(const PeerCredentials& credentials) const;
};

}  // namespace offcpud
