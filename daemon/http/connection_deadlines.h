// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "http/connection_table.h"

namespace offcpud {

// Shuts down connections at an absolute time, and when there are too many. The HTTP library has
// only an inactivity timeout, which a client that sends a byte now and then never reaches; and it
// stops accepting when all its connections are in use. Thread-safe. Owns a thread, which sleeps
// while there is no connection.
class ConnectionDeadlines {
 public:
  explicit ConnectionDeadlines(ConnectionLimits limits = {},
                               std::shared_ptr<Heartbeat> heartbeat = nullptr);

  // These functions work as in ConnectionTable. open() may shut another connection down.
  void open(const void* key, int fd, std::string peer, MonotonicTime deadline);
  void await_request(const void* key, MonotonicTime deadline);
  void respond(const void* key, MonotonicTime deadline);
  void suspend(const void* key);

  // Must be called before the descriptor is closed, as its number may then be reused.
  void close(const void* key);

  // Waits until ConnectionTable::is_busy() is false. False: it still was after `patience`.
  bool wait_for_answers(std::chrono::milliseconds patience);

 private:
  void run(const std::stop_token& stop);
  void end_late_ones();  // with the lock held

  const std::shared_ptr<Heartbeat> heartbeat_;  // of thread_; may be null
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable answered_;
  ConnectionTable table_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
