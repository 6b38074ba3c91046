// SPDX-License-Identifier: Apache-2.0
#include "http/peer_credentials.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace offcpud {
namespace {

// How the kernel shows ids that do not exist in the daemon's user namespace, unless
// kernel.overflowuid or overflowgid was changed: user_namespaces(7).
constexpr uid_t kOverflowUid = 65534;
constexpr gid_t kOverflowGid = 65534;

// NGROUPS_MAX, include/uapi/linux/limits.h.
constexpr std::size_t kMostGroups = 65536;

std::vector<gid_t> supplementary_groups(int fd) {
  std::vector<gid_t> groups(32);
  for (;;) {
    auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) == 0) {
      groups.resize(bytes / sizeof(gid_t));
      return groups;
    }
    // ERANGE: `bytes` is the size that is needed.
    if (errno != ERANGE || groups.size() >= kMostGroups) return {};
    groups.resize(std::max(groups.size() * 2, bytes / sizeof(gid_t)));
  }
}

}  // namespace

std::optional<PeerCredentials> peer_credentials(int fd) {
  int family = AF_UNSPEC;
  socklen_t length = sizeof(family);
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0 || family != AF_UNIX) {
    return std::nullopt;
  }
  ucred peer{};
  length = sizeof(peer);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  if (peer.uid == kOverflowUid || peer.uid == static_cast<uid_t>(-1)) return std::nullopt;
  PeerCredentials credentials{.uid = peer.uid, .groups = supplementary_groups(fd)};
  credentials.groups.push_back(peer.gid);
  std::erase(credentials.groups, kOverflowGid);
  return credentials;
}

std::string peer_name(const PeerCredentials& credentials) {
  return "uid " + std::to_string(credentials.uid);
}

bool TrustedPeers::include(const PeerCredentials& credentials) const {
  if (credentials.uid == 0 || credentials.uid == own_uid) return true;
  return group && std::ranges::find(credentials.groups, *group) != credentials.groups.end();
}

}  // namespace offcpud
