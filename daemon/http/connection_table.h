// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"

struct sockaddr;

namespace offcpud {

struct ConnectionLimits {
  std::size_t total = 128;
  std::size_t per_peer = 64;
  std::size_t few = 8;                          // peers with at most this many count alike
  std::chrono::milliseconds request_grace{50};  // how long a request may be on its way
  // Each response keeps its View alive, which takes megabytes on a large host.
  std::size_t slow_responses = 16;
  std::chrono::milliseconds slow_after{5'000};
  std::chrono::milliseconds response_grace{5'000};  // how long a response counts as new
};

// Whether the client has sent bytes that have not been read.
bool has_bytes_waiting(int fd);

// The open connections of a server: what each does, since when and until when, and which one to
// close when there are too many. Owns no descriptors; not thread-safe.
//
// New connections are never refused: otherwise somebody with a thousand idle connections could lock
// out the next scrape. Instead another one is closed: the one that has waited for a request or sent
// a response for longest, because a scrape is short. It belongs to the peer with the most
// connections, if that has more than a few. Two kinds of connections are spared:
// - those with an unread request, or so new that one may be on its way, while the limit is exceeded
//   by at most a quarter;
// - those with a new response, while responses take at most half of a limit.
//
// The HTTP library stops accepting at one and a half times the limit. Before that there is always a
// connection to close.
class ConnectionTable {
 public:
  using HasBytes = std::function<bool(int fd)>;
  explicit ConnectionTable(ConnectionLimits limits, HasBytes has_bytes = &has_bytes_waiting)
      : limits_(limits), has_bytes_(std::move(has_bytes)) {}

  // A connection from `peer` (see peer_name) was accepted; its request must come before `deadline`.
  void open(const void* key, int fd, std::string peer, MonotonicTime now, MonotonicTime deadline);

  void await_request(const void* key, MonotonicTime now, MonotonicTime deadline);
  void respond(const void* key, MonotonicTime now, MonotonicTime deadline);
  void suspend(const void* key);  // another thread makes its answer; never closed meanwhile
  void close(const void* key);

  // Descriptors to shut down: those past their deadline, and the oldest slow responses if there are
  // too many. Returned again until they are closed.
  [[nodiscard]] std::vector<int> expired(MonotonicTime now) const;

  // The descriptor to shut down to make room for `key`; nullopt: there is room, or all are spared.
  std::optional<int> make_room_for(const void* key);

  [[nodiscard]] bool empty() const { return connections_.empty(); }

  // Whether somebody waits for an answer, or has connected without a request so far. Connections
  // kept open after an answer do not count.
  [[nodiscard]] bool is_busy() const;

 private:
  enum class Phase { Request, Response, Suspended, Ending };
  struct Connection {
    int fd = -1;
    std::string peer;
    Phase phase = Phase::Request;
    bool answered = false;  // at least once
    MonotonicTime since;
    MonotonicTime deadline;
  };

  struct Count {
    std::size_t connections = 0;
    std::size_t responses = 0;  // how many of them respond
  };
  // Without connections that are ending.
  struct Counts {
    Count all;
    std::unordered_map<std::string, Count> of_peer;
    std::size_t most = 0;  // connections of the peer with the most
  };

  void set(const void* key, Phase phase, MonotonicTime now, MonotonicTime deadline);
  Counts count_by_peer() const;
  // Whether it has an unread request, or one may be on its way.
  [[nodiscard]] bool may_be_answered_soon(const Connection& connection, MonotonicTime now) const;
  [[nodiscard]] bool is_spared_response(const Connection& connection, const Counts& counts,
                                        MonotonicTime now) const;
  // The connections that may be closed to make room for `key`.
  std::vector<Connection*> candidates_for(const void* key);

  ConnectionLimits limits_;
  HasBytes has_bytes_;
  std::unordered_map<const void*, Connection> connections_;
};

// The peer whose connections a limit counts together: an IPv4 address; the /64 of an IPv6 address,
// within which one host can choose its address (RFC 4291); or all clients of a unix socket.
std::string peer_name(const sockaddr* address);

}  // namespace offcpud
