// SPDX-License-Identifier: Apache-2.0
#include "peers/seen_peers.h"

#include <utility>

#include "peers/peer_of.h"

namespace offcpud {
namespace {

using Key = std::vector<std::uint64_t>;

// Numbers of inodes come again, but not with the same ports so soon.
Key key_of(const offcpud_socket& socket) {
  return {socket.inode, word_of(socket.netns, socket.family),
          word_of(socket.local_port, socket.remote_port), socket.peer_inode};
}

// A listener and a socket of datagrams without other end talk to many.
bool talks_to_one(const offcpud_socket& socket) {
  if (socket.inode == 0) return false;
  return is_inet(socket) ? socket.remote_port != 0 : socket.peer_inode != 0;
}

}  // namespace

const SeenPeers::Seen* SeenPeers::seen(const Key& key) const {
  if (const auto found = young_.find(key); found != young_.end()) return &found->second;
  const auto found = old_.find(key);
  return found == old_.end() ? nullptr : &found->second;
}

void SeenPeers::see(const offcpud_socket& socket, const PeerProcess& process, MonotonicTime now) {
  if (!talks_to_one(socket)) return;
  const Key key = key_of(socket);
  Seen entry{.process = process, .at = now};
  if (const Seen* const before = seen(key)) {
    const bool is_other = before->process.cgroup_id != process.cgroup_id;
    entry.others_at = is_other ? before->at : before->others_at;
  }
  old_.erase(key);
  if (young_.size() >= kMost / 2) old_ = std::exchange(young_, {});
  young_.insert_or_assign(key, entry);
}

std::optional<PeerProcess> SeenPeers::find(const offcpud_socket& socket, MonotonicTime now) const {
  const Seen* const entry = talks_to_one(socket) ? seen(key_of(socket)) : nullptr;
  const auto is_over = [now](MonotonicTime at) { return now - at > kGoodFor; };
  if (entry == nullptr || is_over(entry->at)) return std::nullopt;
  const bool had_others = entry->others_at != MonotonicTime{} && !is_over(entry->others_at);
  if (had_others) return std::nullopt;
  return entry->process;
}

}  // namespace offcpud
