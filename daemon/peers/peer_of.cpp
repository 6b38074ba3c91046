// SPDX-License-Identifier: Apache-2.0
#include "peers/peer_of.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

namespace offcpud {
namespace {

PeerAddress address_of(const __u32 (&words)[4]) {
  return {words[0], words[1], words[2], words[3]};
}

// A socket at which others turn up, or without other end, waits for nobody who is known yet.
WaitPeer remote_of(const offcpud_socket& socket) {
  constexpr std::uint32_t kNobodyYet = OFFCPUD_ON_LISTENER;
  if (socket.remote_port == 0 || (socket.on & kNobodyYet) != 0 || is_local(socket)) return {};
  const bool was_accepted = (socket.on & OFFCPUD_ON_ACCEPTED) != 0;
  return {.kind = WaitPeer::Kind::Remote,
          .address = remote_address(socket),
          .port = was_accepted ? std::uint16_t{0} : socket.remote_port};
}

// Reasons for which a thread waits for no file, so whoever ended the wait is whom it waited for.
bool is_for_no_file(std::uint32_t kind) {
  return kind != OFFCPUD_BLOCKED_NETWORK && kind != OFFCPUD_BLOCKED_PIPE &&
         kind != OFFCPUD_BLOCKED_POLL;
}

}  // namespace

bool is_inet(const offcpud_socket& socket) {
  return socket.family == AF_INET || socket.family == AF_INET6;
}

PeerAddress local_address(const offcpud_socket& socket) {
  return address_of(socket.local);
}
PeerAddress remote_address(const offcpud_socket& socket) {
  return address_of(socket.remote);
}

bool is_loopback(const PeerAddress& address) {
  if (address[0] != 0 || address[1] != 0) return false;
  if (address[2] == htonl(0xffff)) return (ntohl(address[3]) >> 24) == 127;
  return address[2] == 0 && address[3] == htonl(1);
}

bool is_local(const offcpud_socket& socket) {
  const PeerAddress remote = remote_address(socket);
  return is_loopback(remote) || remote == local_address(socket);
}

PeerProcess process_of(const offcpud_peer& peer) {
  PeerProcess process{.tgid = peer.tgid,
                      .local_tgid = peer.local_tgid,
                      .start_ns = peer.process_start_ns,
                      .cgroup_id = peer.cgroup_id};
  std::ranges::copy(peer.comm, process.comm.begin());
  process.comm.back() = '\0';
  return process;
}

WaitPeer peer_of(const offcpud_sample& sample, const offcpud_peer& peer) {
  if ((peer.flags & OFFCPUD_PEER_KNOWN) != 0) {
    return {.kind = WaitPeer::Kind::Process, .process = process_of(peer), .tid = peer.tid};
  }
  if (is_inet(peer.socket)) return remote_of(peer.socket);
  constexpr std::uint32_t kHow = OFFCPUD_PEER_ENDED | OFFCPUD_PEER_SIGNALLED;
  const bool was_ended = (sample.flags & OFFCPUD_SAMPLE_IN_PROGRESS) == 0 && peer.tgid != 0 &&
                         (peer.flags & kHow) == OFFCPUD_PEER_ENDED;
  WaitPeer found;
  if (was_ended && is_for_no_file(sample.kind)) {
    found.kind = WaitPeer::Kind::Process;
    found.process = process_of(peer);
    found.tid = peer.tid;
  }
  if (peer.device != 0) {
    found.kind = WaitPeer::Kind::Device;
    found.device = peer.device;
  }
  return found;
}

}  // namespace offcpud
