// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "peers/seen_peers.h"
#include "peers/socket_table.h"
#include "peers/wait_peer.h"
#include "sample.h"

namespace offcpud {

// Says whom sampled blocks waited on: by their own records, else by what was seen of the same
// socket before, else by the sockets that processes have. A process that has ended is never the
// peer of a wait in progress: another one may have its address by now. Used by one thread.
class PeerResolver {
 public:
  using Lives = std::function<bool(std::uint32_t local_tgid)>;
  // `lives`: whether there is such a process in the daemon's PID namespace.
  explicit PeerResolver(Lives lives = process_lives) : lives_(std::move(lives)) {}

  WaitPeer resolve(const offcpud_sample& sample, const offcpud_peer& peer, MonotonicTime now);

  // What the last walk over all sockets found.
  void use(std::shared_ptr<const SocketTable> sockets) { sockets_ = std::move(sockets); }

  // Whether, since the last call, a block waited on a process of this host that a newer table might
  // name.
  [[nodiscard]] bool take_missed() { return std::exchange(missed_, false); }

 private:
  static bool process_lives(std::uint32_t local_tgid);
  WaitPeer server_of(const WaitPeer& file_system);
  [[nodiscard]] std::optional<PeerProcess> find(const offcpud_socket& socket,
                                                MonotonicTime now) const;

  Lives lives_;
  SeenPeers seen_;
  std::shared_ptr<const SocketTable> sockets_ = std::make_shared<SocketTable>();
  bool missed_ = false;
};

}  // namespace offcpud
