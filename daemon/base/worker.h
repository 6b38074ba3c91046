// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/thread_start.h"

namespace offcpud {

// A queue of jobs, and a thread that performs one after the other. Adding a job does not wait for
// any. The owner limits the queue and decides on its order: see change(). Thread-safe.
//
// It is for jobs that are done as soon as their turn comes. Those whose turn depends on the time,
// or on more than the queue, have threads of their own: SymbolWorker (a budget, deadlines, and a
// thread that may hang on a file system), PasswordChecker (who asks most waits longest),
// SnapshotPush (waits after a failure). GoroutineWatch has no jobs: it looks once in each interval.
template <class Job>
class Worker {
 public:
  // Called by the thread, without the lock. `stop` asks for an early end: the worker is being
  // destroyed. An exception ends the process.
  using Perform = std::function<void(Job job, const std::stop_token& stop)>;

  // `name` as for start_thread(). The thread calls `begin`, if there is one, before any job.
  Worker(const char* name, Perform perform, std::function<void()> begin = {})
      : perform_(std::move(perform)),
        begin_(std::move(begin)),
        thread_(start_thread(name, [this](const std::stop_token& stop) { run(stop); })) {}

  // Waits for the job in progress. Jobs that wait are dropped.
  ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Calls `change` under the lock with the jobs that wait, a std::deque whose first one is next,
  // and returns what it returns. `change` may add and take out any.
  template <class Change>
  auto change(Change change) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return change(waiting_);
  }

  // Waits until `begin` is done and no job waits or is in progress. False: `patience` was too
  // short.
  bool wait_until_idle(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return waiting_.empty() && !busy_; });
  }

 private:
  void run(const std::stop_token& stop) {
    if (begin_) begin_();
    std::unique_lock lock(mutex_);
    for (;;) {
      busy_ = false;
      changed_.notify_all();
      changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
      if (stop.stop_requested()) return;
      busy_ = true;
      Job next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      perform_(std::move(next), stop);
      lock.lock();
    }
  }

  const Perform perform_;
  const std::function<void()> begin_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> waiting_;
  bool busy_ = true;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace offcpud
