// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/thread_watch.h"

namespace offcpud {

// Decides what to report about stuck threads: each beginning and each end once. Used by one thread.
class StuckThreads {
 public:
  struct Change {
    enum class Kind { Stuck, Hopeless, GoesOn };
    Kind kind;
    ThreadState state;  // with GoesOn, `longest` covers the whole time
  };

  [[nodiscard]] std::vector<Change> update(const std::vector<ThreadState>& states);

 private:
  struct Told {
    bool hopeless = false;
    std::chrono::nanoseconds longest{};
  };
  std::map<std::string, Told> told_;
};

// Logs which threads of the daemon are stuck. It has its own thread, because a thread that hangs
// cannot report itself.
class ThreadJournal {
 public:
  // `threads` must outlive the object.
  explicit ThreadJournal(const ThreadWatch& threads);
  ~ThreadJournal();
  ThreadJournal(const ThreadJournal&) = delete;
  ThreadJournal& operator=(const ThreadJournal&) = delete;

 private:
  static constexpr std::chrono::seconds kInterval{1};
  void run();

  const ThreadWatch& threads_;
  StuckThreads stuck_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace offcpud
