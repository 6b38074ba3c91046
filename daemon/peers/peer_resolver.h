// SPDX-License-Identifier: Apache-2.0
#pragma once

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
// socket before, else by the sockets that processes have. Used by one thread.
class PeerResolver {
 public:
  WaitPeer resolve(const offcpud_sample& sample, const offcpud_peer& peer, MonotonicTime now);

  // What the last walk over all sockets found.
  void use(std::shared_ptr<const SocketTable> sockets) { sockets_ = std::move(sockets); }

  // Whether, since the last call, a block waited on a process of this host that a newer
  // table might name.
  [[nodiscard]] bool take_missed() { return std::exchange(missed_, false); }

 private:
  [[nodiscard]] std::optional<PeerProcess> find(const offcpud_socket& socket,
                                                MonotonicTime now) const;

  SeenPeers seen_;
  std::shared_ptr<const SocketTable> sockets_ = std::make_shared<SocketTable>();
  bool missed_ = false;
};

}  // namespace offcpud
