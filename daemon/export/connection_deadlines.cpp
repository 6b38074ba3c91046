// SPDX-License-Identifier: Apache-2.0
#include "export/connection_deadlines.h"

#include <sys/socket.h>

#include <chrono>

namespace offcpud {
namespace {

constexpr std::chrono::milliseconds kSweepInterval{250};

}  // namespace

ConnectionDeadlines::ConnectionDeadlines()
    : thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ConnectionDeadlines::set(const void* key, int fd, MonotonicTime deadline) {
  const std::lock_guard lock(mutex_);
  const bool was_empty = entries_.empty();
  entries_.insert_or_assign(key, Entry{fd, deadline});
  if (was_empty) changed_.notify_one();
}

void ConnectionDeadlines::forget(const void* key) {
  const std::lock_guard lock(mutex_);
  entries_.erase(key);
}

void ConnectionDeadlines::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait(lock, stop, [this] { return !entries_.empty(); });
    shut_down_expired(std::chrono::steady_clock::now());
    // Only a stop ends this wait early.
    changed_.wait_for(lock, stop, kSweepInterval, [] { return false; });
  }
}

// The library then reads the end of the stream, closes the socket and reports it to `forget`.
void ConnectionDeadlines::shut_down_expired(MonotonicTime now) {
  for (const auto& [key, entry] : entries_) {
    if (entry.deadline <= now) (void)::shutdown(entry.fd, SHUT_RDWR);
  }
}

}  // namespace offcpud
