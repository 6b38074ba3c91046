// SPDX-License-Identifier: Apache-2.0
#include "http/connection_deadlines.h"

#include <sys/socket.h>

#include <chrono>
#include <utility>

#include "base/thread_start.h"

namespace offcpud {
namespace {

constexpr std::chrono::milliseconds kSweepInterval{250};

MonotonicTime now() {
  return std::chrono::steady_clock::now();
}

// The library then reads the end of the stream, closes the socket and calls close().
void shut_down(int fd) {
  (void)::shutdown(fd, SHUT_RDWR);
}

}  // namespace

ConnectionDeadlines::ConnectionDeadlines(ConnectionLimits limits,
                                         std::shared_ptr<Heartbeat> heartbeat)
    : heartbeat_(std::move(heartbeat)),
      table_(limits),
      thread_(start_thread("offcpud-connect", [this](const std::stop_token& stop) { run(stop); })) {
}

void ConnectionDeadlines::open(const void* key, int fd, std::string peer, MonotonicTime deadline) {
  const std::lock_guard lock(mutex_);
  const bool was_empty = table_.empty();
  table_.open(key, fd, std::move(peer), now(), deadline);
  if (const auto oldest = table_.make_room_for(key)) shut_down(*oldest);
  if (was_empty) changed_.notify_one();
}

void ConnectionDeadlines::await_request(const void* key, MonotonicTime deadline) {
  const std::lock_guard lock(mutex_);
  table_.await_request(key, now(), deadline);
  answered_.notify_all();
}

void ConnectionDeadlines::respond(const void* key, MonotonicTime deadline) {
  const std::lock_guard lock(mutex_);
  table_.respond(key, now(), deadline);
}

void ConnectionDeadlines::suspend(const void* key) {
  const std::lock_guard lock(mutex_);
  table_.suspend(key);
}

void ConnectionDeadlines::close(const void* key) {
  const std::lock_guard lock(mutex_);
  table_.close(key);
  answered_.notify_all();
}

bool ConnectionDeadlines::wait_for_answers(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return answered_.wait_for(lock, patience, [this] { return !table_.is_busy(); });
}

void ConnectionDeadlines::end_late_ones() {
  const PieceOfWork piece(heartbeat_, "ending late connections");
  for (const int fd : table_.expired(now())) shut_down(fd);
}

void ConnectionDeadlines::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait(lock, stop, [this] { return !table_.empty(); });
    end_late_ones();
    // Only a stop ends this wait early.
    changed_.wait_for(lock, stop, kSweepInterval, [] { return false; });
  }
}

}  // namespace offcpud
