// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/word_hash.h"
#include "peers/wait_peer.h"

namespace offcpud {

// Which process had which socket, in all network namespaces of this host, when a walk over their
// files passed by (bpf/sockets.bpf.c). It names nobody where two could be meant: processes of
// different cgroups that share a socket, or sockets of different namespaces with equal addresses.
// Immutable for others, who see it once it is filled.
class SocketTable {
 public:
  // Further sockets are left out.
  static constexpr std::size_t kMost = 65'536;

  // A record of the walk: a socket and a process that has it.
  void add(const offcpud_peer& record);

  // The process at the other end of a connection, by the addresses and ports of both.
  [[nodiscard]] std::optional<PeerProcess> other_end_of(const offcpud_socket& socket) const;
  // The process to which the remote port of this socket belongs, if its remote address is one of
  // its own network namespace.
  [[nodiscard]] std::optional<PeerProcess> listener_of(const offcpud_socket& socket) const;

  [[nodiscard]] std::size_t size() const { return ends_.size() + listeners_.size(); }
  // Sockets for which there was no room.
  [[nodiscard]] std::size_t left_out() const { return left_out_; }

 private:
  struct Owner {
    PeerProcess process{};
    std::uint32_t netns = 0;
    bool ambiguous = false;
  };
  using Key = std::vector<std::uint64_t>;
  using Owners = std::unordered_map<Key, Owner, WordsHash>;

  void add(Owners& owners, Key key, const offcpud_peer& record);
  static std::optional<PeerProcess> named(const Owners& owners, const Key& key);

  Owners ends_;       // of connections, by both addresses and ports; unix: by inode
  Owners listeners_;  // by network namespace, protocol, address and port
  std::size_t left_out_ = 0;
};

}  // namespace offcpud
