// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "peers/wait_peer.h"
#include "sample.h"

namespace offcpud::test {

// "10.0.0.1" or "2001:db8::1".
inline PeerAddress peer_address(const std::string& text) {
  PeerAddress address{};
  if (text.find(':') != std::string::npos) {
    ::inet_pton(AF_INET6, text.c_str(), address.data());
  } else {
    address[2] = htonl(0xffff);
    ::inet_pton(AF_INET, text.c_str(), &address[3]);
  }
  return address;
}

// A record of bpf/peer.h, written as a sentence: PeerRecord().tcp("10.0.0.1", 40000, "10.0.0.2",
// 80).ended_by(7, "x").
class PeerRecord {
 public:
  PeerRecord& tcp(const std::string& local, std::uint16_t local_port, const std::string& remote,
                  std::uint16_t remote_port, std::uint32_t on = OFFCPUD_ON_ASKED) {
    offcpud_socket& socket = peer.socket;
    std::ranges::copy(peer_address(local), socket.local);
    std::ranges::copy(peer_address(remote), socket.remote);
    socket.local_port = local_port;
    socket.remote_port = remote_port;
    socket.family = AF_INET;
    socket.protocol = IPPROTO_TCP;
    socket.state = 1;
    socket.netns = 1;
    socket.inode = 5;
    socket.on = on;
    return *this;
  }
  PeerRecord& in_netns(std::uint32_t netns) {
    peer.socket.netns = netns;
    return *this;
  }
  PeerRecord& unix_socket(std::uint64_t inode, std::uint64_t peer_inode) {
    peer.socket.family = AF_UNIX;
    peer.socket.inode = inode;
    peer.socket.peer_inode = peer_inode;
    return *this;
  }
  PeerRecord& on_device(std::uint32_t major, std::uint32_t minor) {
    peer.device = major << 20 | minor;
    return *this;
  }
  PeerRecord& on_fuse(std::uint32_t minor) {
    peer.flags |= OFFCPUD_PEER_FUSE;
    return on_device(0, minor);
  }
  // A thread of this process was current when the block ended.
  PeerRecord& beside(std::uint32_t pid, std::string_view comm = "peer") {
    peer.tgid = peer.local_tgid = pid;
    peer.process_start_ns = pid;
    peer.cgroup_id = 2;
    std::fill(std::begin(peer.comm), std::end(peer.comm), '\0');
    comm.copy(peer.comm, sizeof(peer.comm) - 1);
    return *this;
  }
  // It ended the block itself.
  PeerRecord& ended_by(std::uint32_t pid, std::string_view comm = "peer") {
    peer.flags |= OFFCPUD_PEER_ENDED;
    return beside(pid, comm);
  }
  PeerRecord& known() {
    peer.flags |= OFFCPUD_PEER_KNOWN;
    return *this;
  }
  PeerRecord& signalled() {
    peer.flags |= OFFCPUD_PEER_SIGNALLED;
    return *this;
  }
  PeerRecord& in_cgroup(std::uint64_t id) {
    peer.cgroup_id = id;
    return *this;
  }
  // As the walk over all sockets tells it.
  [[nodiscard]] offcpud_held_socket held(std::uint32_t uid = 0) const {
    return {.peer = peer, .uid = uid, .unused = 0};
  }

  offcpud_peer peer{};
};

}  // namespace offcpud::test
