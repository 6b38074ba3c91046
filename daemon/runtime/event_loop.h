// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/result.h"
#include "base/unique_handle.h"

struct sd_event;
struct sd_event_source;

namespace offcpud {

// When a timer that was due at `due` fires next: at the first multiple of `interval` after `due`
// that is later than `now`. So a late callback does not delay the following ones, and ticks missed
// while the process was stopped are skipped.
MonotonicTime next_due(MonotonicTime due, std::chrono::microseconds interval, MonotonicTime now);

// Runs callbacks for signals, timers, readable descriptors and work posted by other threads, one at
// a time. The thread that creates it owns it; others may only call post(). Callbacks must not
// throw: C frames call them, so an escaping exception ends the process.
class EventLoop {
 public:
  using Callback = std::function<void()>;

  class Timer {
   public:
    // Counts from now: the next tick is one new interval away. At least one millisecond.
    void set_interval(std::chrono::microseconds interval);

   private:
    friend class EventLoop;
    void arm();

    std::chrono::microseconds interval_{};
    MonotonicTime due_;
    Callback callback_;
    EventLoop* loop_ = nullptr;
    sd_event_source* source_ = nullptr;
  };

  // `heartbeat` records each callback as a piece of work; it may be null.
  static Result<std::unique_ptr<EventLoop>> create(std::shared_ptr<Heartbeat> heartbeat = nullptr);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Blocks the signal in this thread, permanently, and calls back instead. Call it before starting
  // other threads, because they inherit the mask.
  Status on_signal(int number, Callback callback);

  // The first tick comes after one interval. The loop owns the timer.
  Result<Timer*> every(std::chrono::microseconds interval, Callback callback);

  // Calls back while `fd` is readable or has hung up. The caller keeps the descriptor, which must
  // outlive the loop.
  Status on_readable(int fd, Callback callback);

  // Runs the callback in the loop, in the order posted. Any thread may call it.
  void post(Callback callback);

  // Runs until stop(), and returns its code.
  Result<int> run();

  // Call it in a callback; run() returns when the callback does.
  void stop(int code);

 private:
  struct Watch {
    Callback callback;
    EventLoop* loop = nullptr;
    sd_event_source* source = nullptr;
  };

  EventLoop(sd_event* event, UniqueFd wakeup, std::shared_ptr<Heartbeat> heartbeat)
      : event_(event), wakeup_(std::move(wakeup)), heartbeat_(std::move(heartbeat)) {}
  void call(const Callback& callback, const char* what) const;
  void run_posted();

  sd_event* event_;
  UniqueFd wakeup_;  // eventfd, readable while posted_ is not empty
  std::shared_ptr<Heartbeat> heartbeat_;
  // Pointers, because sd-event keeps the addresses.
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<std::unique_ptr<Timer>> timers_;
  std::mutex mutex_;
  std::vector<Callback> posted_;  // guarded by mutex_
};

}  // namespace offcpud
