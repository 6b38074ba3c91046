// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/share_slots.h"
#include "base/word_hash.h"
#include "peers/wait_peer.h"

namespace offcpud {

// Which process had which socket, in all network namespaces of this host, or served which FUSE file
// system, when a walk over their files passed by (bpf/sockets.bpf.c). It names nobody where two
// could be meant: processes of different cgroups that share a socket, or sockets of different
// namespaces with equal addresses. One thread fills it; then it no longer changes, and others see
// it.
class SocketTable {
 public:
  // When there are this many, a new one takes the place of one of the largest process of the user
  // who has most (ShareSlots).
  static constexpr std::size_t kMost = 65'536;

  SocketTable() = default;
  SocketTable(SocketTable&&) = default;
  SocketTable& operator=(SocketTable&&) = default;

  // A record of the walk.
  void add(const offcpud_held_socket& record);

  // The process at the other end of a connection, by the addresses and ports of both.
  [[nodiscard]] std::optional<PeerProcess> other_end_of(const offcpud_socket& socket) const;
  // The process to which the remote port of this socket belongs, if its remote address is one of
  // its own network namespace.
  [[nodiscard]] std::optional<PeerProcess> listener_of(const offcpud_socket& socket) const;
  // The process that serves a FUSE file system. If several of one cgroup do, it has only that
  // cgroup. `device`: dev_t of the kernel.
  [[nodiscard]] std::optional<PeerProcess> fuse_server_of(std::uint32_t device) const;

  [[nodiscard]] std::size_t size() const { return owners_.size(); }
  // Sockets for which there was no room, or which gave up theirs.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  struct Owner {
    PeerProcess process{};
    std::uint32_t netns = 0;
    bool ambiguous = false;
  };
  using Key = std::vector<std::uint64_t>;
  using Owners = std::unordered_map<Key, Owner, WordsHash>;

  void add(Key key, const offcpud_held_socket& record);
  // Removes the socket of another process. False: this process may not take another's place.
  bool make_room(const offcpud_held_socket& record);
  void take_room(const Key& key, const offcpud_held_socket& record);
  [[nodiscard]] std::optional<PeerProcess> named(const Key& key) const;

  // Ends of connections by both addresses and ports, unix sockets by inode, listeners by network
  // namespace, protocol, address and port. Keys of one kind have the same length, keys of two kinds
  // never.
  Owners owners_;
  ShareSlots slots_{kMost};
  std::vector<const Key*> keys_;  // by slot; of the node, which stays where it is
  std::size_t left_out_ = 0;
};

}  // namespace offcpud
