// SPDX-License-Identifier: Apache-2.0
#include "runtime/event_loop.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

namespace offcpud {

using std::chrono::microseconds;

namespace {

constexpr microseconds kShortestInterval = std::chrono::milliseconds(1);

// sd-event may delay timers by this much to coalesce them; it is small beside our intervals.
constexpr std::uint64_t kAccuracyUs = 1'000;

std::uint64_t to_usec(MonotonicTime time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<microseconds>(time.time_since_epoch()).count());
}

MonotonicTime now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

MonotonicTime next_due(MonotonicTime due, microseconds interval, MonotonicTime now) {
  if (now < due) return due + interval;
  const auto missed = (now - due) / interval;
  return due + (missed + 1) * interval;
}

void EventLoop::Timer::arm() {
  // Can only fail for arguments that do not occur here.
  (void)sd_event_source_set_time(source_, to_usec(due_));
  (void)sd_event_source_set_enabled(source_, SD_EVENT_ONESHOT);
}

void EventLoop::Timer::set_interval(microseconds interval) {
  interval_ = std::max(interval, kShortestInterval);
  due_ = now() + interval_;
  arm();
}

Result<std::unique_ptr<EventLoop>> EventLoop::create(std::shared_ptr<Heartbeat> heartbeat) {
  UniqueFd wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup) return Error::from_errno(errno, "eventfd");
  sd_event* event = nullptr;
  if (const int rc = sd_event_new(&event); rc < 0) return Error::from_errno(-rc, "sd_event_new");
  std::unique_ptr<EventLoop> loop(new EventLoop(event, std::move(wakeup), std::move(heartbeat)));
  TRY_VOID(loop->on_readable(loop->wakeup_.get(), [raw = loop.get()] { raw->run_posted(); }));
  return loop;
}

EventLoop::~EventLoop() {
  for (const auto& timer : timers_) sd_event_source_disable_unref(timer->source_);
  for (const auto& watch : watches_) sd_event_source_disable_unref(watch->source);
  sd_event_unref(event_);
}

Status EventLoop::on_signal(int number, Callback callback) {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, number);
  if (const int rc = pthread_sigmask(SIG_BLOCK, &mask, nullptr); rc != 0) {
    return Error::from_errno(rc, "block signal", std::to_string(number));
  }
  auto watch = std::make_unique<Watch>(Watch{std::move(callback), this});
  const auto call = [](sd_event_source*, const signalfd_siginfo*, void* data) noexcept {
    const auto* self = static_cast<Watch*>(data);
    self->loop->call(self->callback, "handling a signal");
    return 0;
  };
  const int rc = sd_event_add_signal(event_, &watch->source, number, call, watch.get());
  if (rc < 0) return Error::from_errno(-rc, "watch signal", std::to_string(number));
  watches_.push_back(std::move(watch));
  return {};
}

Result<EventLoop::Timer*> EventLoop::every(microseconds interval, Callback callback) {
  auto timer = std::make_unique<Timer>();
  timer->interval_ = std::max(interval, kShortestInterval);
  timer->due_ = now() + timer->interval_;
  timer->callback_ = std::move(callback);
  timer->loop_ = this;
  const auto call = [](sd_event_source*, std::uint64_t, void* data) noexcept {
    auto* self = static_cast<Timer*>(data);
    const MonotonicTime due = self->due_;
    self->loop_->call(self->callback_, "running a timer");
    if (self->due_ != due) return 0;  // the callback called set_interval()
    self->due_ = next_due(due, self->interval_, now());
    self->arm();
    return 0;
  };
  const int rc = sd_event_add_time(event_, &timer->source_, CLOCK_MONOTONIC, to_usec(timer->due_),
                                   kAccuracyUs, call, timer.get());
  if (rc < 0) return Error::from_errno(-rc, "start timer");
  timers_.push_back(std::move(timer));
  return timers_.back().get();
}

Status EventLoop::on_readable(int fd, Callback callback) {
  auto watch = std::make_unique<Watch>(Watch{std::move(callback), this});
  const auto call = [](sd_event_source*, int, std::uint32_t, void* data) noexcept {
    const auto* self = static_cast<Watch*>(data);
    self->loop->call(self->callback, "handling events");
    return 0;
  };
  const int rc = sd_event_add_io(event_, &watch->source, fd, EPOLLIN, call, watch.get());
  if (rc < 0) return Error::from_errno(-rc, "watch descriptor", std::to_string(fd));
  watches_.push_back(std::move(watch));
  return {};
}

void EventLoop::post(Callback callback) {
  {
    const std::scoped_lock lock(mutex_);
    posted_.push_back(std::move(callback));
  }
  // Fails only with 2^64 - 1 pending wakeups, and then the loop is awake anyway.
  (void)::eventfd_write(wakeup_.get(), 1);
}

// Calls may nest: posted work runs inside the callback for the wakeup.
void EventLoop::call(const Callback& callback, const char* what) const {
  const PieceOfWork piece(heartbeat_, what);
  callback();
}

void EventLoop::run_posted() {
  eventfd_t wakeups = 0;
  (void)::eventfd_read(wakeup_.get(), &wakeups);  // before the swap: a later post wakes us again
  std::vector<Callback> work;
  {
    const std::scoped_lock lock(mutex_);
    work.swap(posted_);
  }
  for (const auto& callback : work) call(callback, "running posted work");
}

Result<int> EventLoop::run() {
  const int code = sd_event_loop(event_);
  if (code < 0) return Error::from_errno(-code, "event loop");
  return code;
}

// -ESTALE means already stopped, which is what the caller wants.
void EventLoop::stop(int code) {
  (void)sd_event_exit(event_, code);
}

}  // namespace offcpud
