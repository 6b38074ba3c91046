// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/heartbeat.h"

namespace offcpud {

// The clock of heartbeats: a thread that hangs may outlive whoever started it.
const Clock& steady_system_clock();

// All threads of the daemon that others wait for, and how they are doing. Thread-safe; nothing is
// locked for longer than it takes to copy a few pointers, so it answers whatever hangs.
class ThreadWatch {
 public:
  // `clock` must outlive the threads.
  explicit ThreadWatch(const Clock& clock = steady_system_clock()) : clock_(clock) {}

  // For one more thread. Several may have one name; together they do as the worst of them.
  [[nodiscard]] std::shared_ptr<Heartbeat> add(const std::string& name, ThreadLimits limits);

  // In the order in which they were added, each name once.
  [[nodiscard]] std::vector<ThreadState> states() const;

  // A thread that is stuck and that somebody depends on; nullopt: there is none.
  [[nodiscard]] std::optional<ThreadState> stuck() const;

  // A thread for which only another process helps; nullopt: there is none.
  [[nodiscard]] std::optional<ThreadState> hopeless() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Heartbeat>> threads_;
};

// "thread stacks has been reading mappings (process 12) for 47 s"; of one that has gone on,
// "thread stacks was reading mappings for 47 s until a moment ago".
std::string sentence_of(const ThreadState& state, bool with_subject);

}  // namespace offcpud
