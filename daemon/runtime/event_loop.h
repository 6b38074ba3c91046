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

// When a timer that was due at `due` fires next: the first multiple of `interval` after `due` that
// lies after `now`. A late callback therefore never shifts the ones after it, and ticks that a
// stopped process missed are skipped, not made up for.
MonotonicTime next_due(MonotonicTime due, std::chrono::microseconds interval, MonotonicTime now);

// Signals, timers, readable descriptors and work posted by other threads, one callback at a time.
// The thread that creates it owns it; only post() may be called from others. Callbacks must not
// throw: they are called through C frames, so an exception that leaves one ends the process.
class EventLoop {
 public:
  using Callback = std::function<void()>;

  class Timer {
   public:
    // Counts from now; the next tick is one new interval away. At least one millisecond.
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

  // Each callback is a piece of work of `heartbeat`, unless that is null.
  static Result<std::unique_ptr<EventLoop>> create(std::shared_ptr<Heartbeat> heartbeat = nullptr);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Blocks the signal in this thread, for good, and calls back instead. Threads inherit the mask of
  // the one that starts them, so this comes before any other thread is started.
  Status on_signal(int number, Callback callback);

  // First tick after one interval. The loop owns the timer.
  Result<Timer*> every(std::chrono::microseconds interval, Callback callback);

  // Calls back as long as `fd` is readable or has hung up. The descriptor stays the caller's and
  // outlives the loop.
  Status on_readable(int fd, Callback callback);

  // From any thread: runs the callback in the loop, in the order posted.
  void post(Callback callback);

  // Until stop(); gives stop's code.
  Result<int> run();

  // From a callback: run() returns when the callback does.
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
  // By pointer: sd-event keeps their addresses.
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<std::unique_ptr<Timer>> timers_;
  std::mutex mutex_;
  std::vector<Callback> posted_;  // guarded by mutex_
};

}  // namespace offcpud
