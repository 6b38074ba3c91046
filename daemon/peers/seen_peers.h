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

// The processes that were seen at the other ends of connections, for waits on the same socket that
// do not tell it themselves: a process that closes a connection, or ends, makes no call for it.
// What is older than kGoodFor is not told, nor a socket whose other end processes of several
// cgroups use. Used by one thread.
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
