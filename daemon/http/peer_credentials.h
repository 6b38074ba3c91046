// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace offcpud {

// The process that connected to a unix socket, in the daemon's user namespace: root of a namespace
// that a user created has that user's id here, not 0 (kernel: cred_to_ucred in net/core/sock.c).
struct PeerCredentials {
  uid_t uid = 0;
  std::vector<gid_t> groups;  // the effective and the supplementary groups
};

// Credentials of the other end at the time of its connect(2): unix(7), SO_PEERCRED and
// SO_PEERGROUPS. nullopt: not a unix socket, or the user's id does not exist in this namespace.
std::optional<PeerCredentials> peer_credentials(int fd);

// On a unix socket, limits count the connections of a user together.
std::string peer_name(const PeerCredentials& credentials);

// Who may see what /proc shows only to root: root, the user of the daemon, and the members of one
// group.
struct TrustedPeers {
  uid_t own_uid = 0;
  std::optional<gid_t> group;  // web.socket_group

  [[nodiscard]] bool include(const PeerCredentials& credentials) const;
};

}  // namespace offcpud
