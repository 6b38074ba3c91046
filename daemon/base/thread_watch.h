// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/heartbeat.h"

namespace offcpud {

// The clock of heartbeats. Static, because a thread that hangs may outlive whoever started it.
const Clock& steady_system_clock();

// The state of all threads of the daemon that others wait for. Thread-safe. The lock is held only
// to copy a few pointers, so this answers whatever hangs.
class ThreadWatch {
 public:
  // `clock` must outlive the threads.
  explicit ThreadWatch(const Clock& clock = steady_system_clock()) : clock_(clock) {}

  // Adds a thread. Threads may share a name; states() then gives the worst of their states.
  [[nodiscard]] std::shared_ptr<Heartbeat> add(const std::string& name, ThreadLimits limits);

  // One state for each name, in the order in which the names were added.
  [[nodiscard]] std::vector<ThreadState> states() const;

  // A stuck thread that requests depend on; nullopt: there is none.
  [[nodiscard]] std::optional<ThreadState> stuck() const;

  // A thread that only a new process can replace; nullopt: there is none.
  [[nodiscard]] std::optional<ThreadState> hopeless() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Heartbeat>> threads_;
};

// "thread stacks has been reading mappings (process 12) for 47 s" or, if the work has ended,
// "thread stacks was reading mappings for 47 s until a moment ago". `with_subject`: includes the
// text in parentheses.
std::string sentence_of(const ThreadState& state, bool with_subject);

}  // namespace offcpud
