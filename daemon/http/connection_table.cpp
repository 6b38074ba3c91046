// SPDX-License-Identifier: Apache-2.0
#include "http/connection_table.h"

#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace offcpud {

bool has_bytes_waiting(int fd) {
  int bytes = 0;
  return ::ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

void ConnectionTable::open(const void* key, int fd, std::string peer, MonotonicTime now,
                           MonotonicTime deadline) {
  connections_.insert_or_assign(
      key, Connection{.fd = fd, .peer = std::move(peer), .since = now, .deadline = deadline});
}

void ConnectionTable::set(const void* key, Phase phase, MonotonicTime now, MonotonicTime deadline) {
  const auto found = connections_.find(key);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  // A connection that was shut down may still have a request in its buffers; it stays Ending.
  if (connection.phase == Phase::Ending) return;
  connection.phase = phase;
  connection.since = now;
  connection.deadline = deadline;
}

void ConnectionTable::await_request(const void* key, MonotonicTime now, MonotonicTime deadline) {
  set(key, Phase::Request, now, deadline);
  if (const auto found = connections_.find(key); found != connections_.end()) {
    found->second.answered = true;
  }
}

void ConnectionTable::respond(const void* key, MonotonicTime now, MonotonicTime deadline) {
  set(key, Phase::Response, now, deadline);
}

void ConnectionTable::suspend(const void* key) {
  set(key, Phase::Suspended, {}, {});
}

void ConnectionTable::close(const void* key) {
  connections_.erase(key);
}

bool ConnectionTable::is_busy() const {
  return std::any_of(connections_.begin(), connections_.end(), [](const auto& item) {
    const Connection& connection = item.second;
    if (connection.phase == Phase::Request) return !connection.answered;
    return connection.phase != Phase::Ending;
  });
}

std::vector<int> ConnectionTable::expired(MonotonicTime now) const {
  std::vector<int> fds;
  std::vector<const Connection*> slow;
  for (const auto& [key, connection] : connections_) {
    if (connection.phase == Phase::Suspended) continue;
    if (connection.deadline <= now) {
      fds.push_back(connection.fd);
    } else if (connection.phase == Phase::Response && now - connection.since > limits_.slow_after) {
      slow.push_back(&connection);
    }
  }
  if (slow.size() <= limits_.slow_responses) return fds;
  std::sort(slow.begin(), slow.end(),
            [](const Connection* a, const Connection* b) { return a->since < b->since; });
  slow.resize(slow.size() - limits_.slow_responses);
  for (const Connection* connection : slow) fds.push_back(connection->fd);
  return fds;
}

ConnectionTable::Counts ConnectionTable::count_by_peer() const {
  Counts counts;
  for (const auto& [key, connection] : connections_) {
    if (connection.phase == Phase::Ending) continue;
    const bool responds = connection.phase == Phase::Response;
    for (Count* const count : {&counts.all, &counts.of_peer[connection.peer]}) {
      ++count->connections;
      count->responses += responds ? 1 : 0;
    }
  }
  for (const auto& [peer, count] : counts.of_peer) {
    counts.most = std::max(counts.most, count.connections);
  }
  return counts;
}

bool ConnectionTable::may_be_answered_soon(const Connection& connection, MonotonicTime now) const {
  return connection.phase == Phase::Request &&
         (now - connection.since < limits_.request_grace || has_bytes_(connection.fd));
}

// True for a new response, unless responses already take half of a limit.
bool ConnectionTable::is_spared_response(const Connection& connection, const Counts& counts,
                                         MonotonicTime now) const {
  return connection.phase == Phase::Response && now - connection.since < limits_.response_grace &&
         counts.all.responses <= limits_.total / 2 &&
         counts.of_peer.at(connection.peer).responses <= limits_.per_peer / 2;
}

std::vector<ConnectionTable::Connection*> ConnectionTable::candidates_for(const void* key) {
  const Connection& newcomer = connections_.at(key);
  const Counts counts = count_by_peer();
  const std::size_t total = counts.all.connections;
  const std::size_t of_peer = counts.of_peer.at(newcomer.peer).connections;
  const bool peer_has_too_many = of_peer > limits_.per_peer;
  if (!peer_has_too_many && total <= limits_.total) return {};

  const bool is_pressing = total > limits_.total * 5 / 4 || of_peer > limits_.per_peer * 5 / 4;
  const auto is_spared = [&](const Connection& of) {
    if (!is_pressing && may_be_answered_soon(of, newcomer.since)) return true;
    if (is_spared_response(of, counts, newcomer.since)) return true;
    if (peer_has_too_many) return of.peer != newcomer.peer;
    return counts.most > limits_.few && counts.of_peer.at(of.peer).connections < counts.most;
  };
  std::vector<Connection*> found;
  for (auto& [other, connection] : connections_) {
    const bool may_go = connection.phase == Phase::Request || connection.phase == Phase::Response;
    if (may_go && other != key && !is_spared(connection)) found.push_back(&connection);
  }
  return found;
}

std::optional<int> ConnectionTable::make_room_for(const void* key) {
  const auto newcomer = connections_.find(key);
  if (newcomer == connections_.end()) return std::nullopt;
  const MonotonicTime now = newcomer->second.since;
  const std::vector<Connection*> candidates = candidates_for(key);
  const auto first = std::ranges::min_element(candidates, {}, [&](const Connection* each) {
    return std::tuple(may_be_answered_soon(*each, now), each->since);
  });
  if (first == candidates.end()) return std::nullopt;
  (*first)->phase = Phase::Ending;
  return (*first)->fd;
}

std::string peer_name(const sockaddr* address) {
  constexpr std::size_t kNetworkBytes = 8;
  const auto bytes = [](const void* from, std::size_t size) {
    return std::string(static_cast<const char*>(from), size);
  };
  if (address == nullptr) return "unix";
  if (address->sa_family == AF_INET) {
    const auto& v4 = *reinterpret_cast<const sockaddr_in*>(address);
    return bytes(&v4.sin_addr, sizeof(v4.sin_addr));
  }
  if (address->sa_family != AF_INET6) return "unix";
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return bytes(&v6.s6_addr[12], sizeof(in_addr));
  return bytes(&v6, kNetworkBytes);
}

}  // namespace offcpud
