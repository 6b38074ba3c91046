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
  std::size_t few = 8;                          // up to so many, no peer has more than another
  std::chrono::milliseconds request_grace{50};  // so long a new one is waited for
  // Each response keeps the View alive that it shows, which is megabytes on a large host.
  std::size_t slow_responses = 16;
  std::chrono::milliseconds slow_after{5'000};
  std::chrono::milliseconds response_grace{5'000};  // so long a response is new
};

// Whether a client has sent bytes that nobody has read.
bool has_bytes_waiting(int fd);

// The open connections of a server: what each does, since when and until when, and which has to go
// when there are too many. New ones are never turned away, because that would turn the next scrape
// away while somebody holds a thousand idle connections. Of the peer that has most, and more than a
// few, the one makes room that has been at the same thing for longest, be it waiting for a request
// or sending a response: a scrape is over in a moment. One whose request is there and not read yet,
// or that is so new that it may be on its way, stays until there are a quarter more than the limit.
// New responses stay as long as they are half of a limit at most. So somebody can always go, before
// the HTTP library stops accepting at half as many again. Owns no descriptors; not thread-safe.
class ConnectionTable {
 public:
  using HasBytes = std::function<bool(int fd)>;
  explicit ConnectionTable(ConnectionLimits limits, HasBytes has_bytes = &has_bytes_waiting)
      : limits_(limits), has_bytes_(std::move(has_bytes)) {}

  // A connection from `peer` (peer_name) was accepted and has until `deadline` to send a request.
  void open(const void* key, int fd, std::string peer, MonotonicTime now, MonotonicTime deadline);

  void await_request(const void* key, MonotonicTime now, MonotonicTime deadline);
  void respond(const void* key, MonotonicTime now, MonotonicTime deadline);
  void suspend(const void* key);  // its answer is made elsewhere; never chosen meanwhile
  void close(const void* key);

  // Descriptors to shut down because their time is over, or because there are too many slow
  // responses and these are the oldest. Again and again until they are closed.
  [[nodiscard]] std::vector<int> expired(MonotonicTime now) const;

  // The descriptor to shut down in favour of `key`; nullopt: there is room, or nobody can go.
  std::optional<int> make_room_for(const void* key);

  [[nodiscard]] bool empty() const { return connections_.empty(); }

  // Somebody waits for an answer, or has connected and not asked yet. Those that are kept open
  // after an answer do not count.
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
    std::size_t responses = 0;  // of these
  };
  // Without those that are ending.
  struct Counts {
    Count all;
    std::unordered_map<std::string, Count> of_peer;
    std::size_t most = 0;  // connections of one peer
  };

  void set(const void* key, Phase phase, MonotonicTime now, MonotonicTime deadline);
  Counts count_by_peer() const;
  // Its request is there and not read yet, or may be about to come.
  [[nodiscard]] bool may_be_answered_soon(const Connection& connection, MonotonicTime now) const;
  [[nodiscard]] bool is_spared_response(const Connection& connection, const Counts& counts,
                                        MonotonicTime now) const;
  // Those that may make room for it.
  std::vector<Connection*> candidates_for(const void* key);

  ConnectionLimits limits_;
  HasBytes has_bytes_;
  std::unordered_map<const void*, Connection> connections_;
};

// Whom a limit for each peer counts as one: an IPv4 address, or the /64 of an IPv6 address, which
// is what one host can choose its address from (RFC 4291). All of a unix socket are one.
std::string peer_name(const sockaddr* address);

}  // namespace offcpud
