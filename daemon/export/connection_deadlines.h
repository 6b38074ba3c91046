// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "base/clock.h"

namespace offcpud {

// Ends connections at an absolute time. The HTTP library only knows a time of inactivity, which a
// client that drips one byte now and then never reaches. Thread-safe; owns one thread, which sleeps
// while there is no connection.
class ConnectionDeadlines {
 public:
  ConnectionDeadlines();

  // From now on `fd` is shut down at `deadline`; replaces the key's earlier deadline.
  void set(const void* key, int fd, MonotonicTime deadline);

  // To be called before `fd` is closed: afterwards the number may belong to somebody else.
  void forget(const void* key);

 private:
  struct Entry {
    int fd;
    MonotonicTime deadline;
  };

  void run(const std::stop_token& stop);
  void shut_down_expired(MonotonicTime now);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::unordered_map<const void*, Entry> entries_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
