// SPDX-License-Identifier: Apache-2.0
#include "peers/socket_table.h"

#include <sys/socket.h>

#include <utility>

#include "peers/peer_of.h"

namespace offcpud {
namespace {

using Key = std::vector<std::uint64_t>;

// systemd keeps the listeners of units that it activates.
constexpr std::uint32_t kInit = 1;

void append(Key& key, const PeerAddress& address) {
  key.push_back(word_of(address[0], address[1]));
  key.push_back(word_of(address[2], address[3]));
}

// Each network namespace has a loopback of its own; other addresses tell namespaces apart.
std::uint32_t netns_of_end(const offcpud_socket& socket) {
  return is_loopback(local_address(socket)) || is_loopback(remote_address(socket)) ? socket.netns
                                                                                   : 0;
}

Key key_of_end(const offcpud_socket& socket, bool other) {
  if (socket.family == AF_UNIX) return {other ? socket.peer_inode : socket.inode};
  const PeerAddress local = local_address(socket), remote = remote_address(socket);
  Key key = {word_of(netns_of_end(socket), socket.protocol),
             other ? word_of(socket.remote_port, socket.local_port)
                   : word_of(socket.local_port, socket.remote_port)};
  append(key, other ? remote : local);
  append(key, other ? local : remote);
  return key;
}

Key key_of_listener(const offcpud_socket& socket, const PeerAddress& address, std::uint16_t port) {
  Key key = {word_of(socket.netns, socket.protocol), port};
  append(key, address);
  return key;
}

Key key_of_fuse(std::uint32_t device) {
  return {device, OFFCPUD_PEER_FUSE};
}

bool is_fuse(const offcpud_held_socket& record) {
  return (record.peer.flags & OFFCPUD_PEER_FUSE) != 0;
}

bool is_any(const PeerAddress& address) {
  return address[0] == 0 && address[1] == 0 && address[3] == 0;
}

// One walk is one look: none of a process's sockets is older than another, so that a process never
// gives up one for another one of its own.
constexpr MonotonicTime kOneTime{};

// All addresses, of IPv4 and of IPv6: a socket of IPv6 mostly takes both.
constexpr PeerAddress kAny{};

}  // namespace

void SocketTable::add(const offcpud_held_socket& record) {
  if (is_fuse(record)) return add(key_of_fuse(record.peer.device), record);
  const offcpud_socket& socket = record.peer.socket;
  if (socket.family == AF_UNIX || socket.remote_port != 0) {
    return add(key_of_end(socket, false), record);
  }
  const PeerAddress local = local_address(socket);
  add(key_of_listener(socket, is_any(local) ? kAny : local, socket.local_port), record);
}

void SocketTable::add(Key key, const offcpud_held_socket& held) {
  if (!owners_.contains(key) && slots_.is_full() && !make_room(held)) {
    ++left_out_;
    return;
  }
  const auto [found, is_new] = owners_.try_emplace(std::move(key));
  if (is_new) take_room(found->first, held);
  const offcpud_peer& record = held.peer;
  Owner& owner = found->second;
  const bool replaces = is_new || owner.process.tgid == kInit;
  if (!replaces && record.tgid == kInit) return;
  if (!replaces &&
      (owner.process.cgroup_id != record.cgroup_id || owner.netns != record.socket.netns)) {
    owner.ambiguous = true;
    return;
  }
  if (!replaces) {
    // The first process that has a socket mostly opened it. If several have a /dev/fuse, nobody can
    // see which one reads the requests.
    if (is_fuse(held) && owner.process.tgid != record.tgid) {
      owner.process = {.cgroup_id = record.cgroup_id};
    }
    return;
  }
  owner = {.process = process_of(record), .netns = record.socket.netns};
}

bool SocketTable::make_room(const offcpud_held_socket& record) {
  const auto slot = slots_.who_gives_way(record.peer.tgid, record.uid, kOneTime);
  if (!slot) return false;
  owners_.erase(owners_.find(*keys_[*slot]));
  slots_.give_back(*slot);
  ++left_out_;
  return true;
}

void SocketTable::take_room(const Key& key, const offcpud_held_socket& record) {
  const auto slot = slots_.take(record.peer.tgid, record.uid, kOneTime);
  if (slot == keys_.size()) keys_.emplace_back();
  keys_[slot] = &key;
}

std::optional<PeerProcess> SocketTable::named(const Key& key) const {
  const auto found = owners_.find(key);
  if (found == owners_.end() || found->second.ambiguous) return std::nullopt;
  return found->second.process;
}

std::optional<PeerProcess> SocketTable::other_end_of(const offcpud_socket& socket) const {
  const bool has_other =
      socket.family == AF_UNIX ? socket.peer_inode != 0 : socket.remote_port != 0;
  if (!has_other) return std::nullopt;
  return named(key_of_end(socket, true));
}

std::optional<PeerProcess> SocketTable::listener_of(const offcpud_socket& socket) const {
  if (!is_inet(socket) || socket.remote_port == 0 || !is_local(socket)) return std::nullopt;
  const Key exact = key_of_listener(socket, remote_address(socket), socket.remote_port);
  if (owners_.contains(exact)) return named(exact);
  return named(key_of_listener(socket, kAny, socket.remote_port));
}

std::optional<PeerProcess> SocketTable::fuse_server_of(std::uint32_t device) const {
  return named(key_of_fuse(device));
}

}  // namespace offcpud
