// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/word_hash.h"
#include "peers/wait_peer.h"

namespace offcpud {

// Remembers which processes were seen at the other ends of connections. It serves later waits on
// the same socket whose own records do not say it: a process that closes a connection, or ends,
// makes no call for that socket. Tells nothing that is older than kGoodFor, and nothing of a socket
// whose other end is used by processes of several cgroups. Used by one thread.
class SeenPeers {
 public:
  // The older half is forgotten once there are more.
  static constexpr std::size_t kMost = 32'768;
  static constexpr std::chrono::seconds kGoodFor{300};

  // This process was at the other end.
  void see(const offcpud_socket& socket, const PeerProcess& process, MonotonicTime now);
  // The process that was seen there.
  [[nodiscard]] std::optional<PeerProcess> find(const offcpud_socket& socket,
                                                MonotonicTime now) const;

 private:
  using Key = std::vector<std::uint64_t>;
  struct Seen {
    PeerProcess process{};
    MonotonicTime at{};
    MonotonicTime others_at{};  // when a process of another cgroup was seen there
  };
  [[nodiscard]] const Seen* seen(const Key& key) const;

  std::unordered_map<Key, Seen, WordsHash> young_, old_;
};

}  // namespace offcpud
