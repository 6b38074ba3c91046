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

// Ends connections at an absolute time, and one of too many. The HTTP library only knows a
// time of inactivity, which a client that drips one byte now and then never reaches, and stops
// accepting when it has all the connections it may have. Thread-safe; owns one thread, which sleeps
// while there is no connection.
class ConnectionDeadlines {
 public:
  explicit ConnectionDeadlines(ConnectionLimits limits = {},
                               std::shared_ptr<Heartbeat> heartbeat = nullptr);

  // As in ConnectionTable. `open` may shut another connection down.
  void open(const void* key, int fd, std::string peer, MonotonicTime deadline);
  void await_request(const void* key, MonotonicTime deadline);
  void respond(const void* key, MonotonicTime deadline);
  void suspend(const void* key);

  // To be called before the descriptor is closed: afterwards the number may belong to somebody
  // else.
  void close(const void* key);

  // Waits until ConnectionTable::is_busy() is false. False: the time was not enough.
  bool wait_for_answers(std::chrono::milliseconds patience);

 private:
  void run(const std::stop_token& stop);
  void end_late_ones();  // with the lock

  const std::shared_ptr<Heartbeat> heartbeat_;  // of the thread; may be null
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::condition_variable answered_;
  ConnectionTable table_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
