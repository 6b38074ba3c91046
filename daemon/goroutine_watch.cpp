// SPDX-License-Identifier: Apache-2.0
#include "goroutine_watch.h"

#include <ctime>
#include <string>
#include <utility>

#include "base/thread_start.h"
#include "reader/reader_requests.h"
#include "runtime/logging.h"

namespace offcpud {
namespace {

// CPU time of this thread and of the readers that a client has had.
class CpuMeter {
 public:
  explicit CpuMeter(ReaderClient& client) : client_(client) {}

  std::chrono::nanoseconds used() {
    const ReaderPage* const page = client_.page();
    const std::uint64_t now = page == nullptr ? 0 : page->cpu_ns.load();
    if (now < last_) of_ended_ += last_;  // another one
    last_ = now;
    timespec own{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);  // fails for unknown clocks only
    return std::chrono::seconds(own.tv_sec) + std::chrono::nanoseconds(own.tv_nsec) +
           std::chrono::nanoseconds(of_ended_ + last_);
  }

 private:
  ReaderClient& client_;
  std::uint64_t last_ = 0, of_ended_ = 0;
};

}  // namespace

GoroutineOptions goroutine_options(const Config& config) {
  return {.enabled = config.goroutines.enabled,
          .interval = config.goroutines.interval,
          .cpu_budget = config.goroutines.cpu_budget};
}

GoroutineWatch::GoroutineWatch(Parts parts, const GoroutineOptions& options)
    : parts_(std::move(parts)),
      first_options_(options),
      thread_(start_thread("offcpud-gowatch", [this](const std::stop_token& stop) { run(stop); })) {
}

void GoroutineWatch::apply(const GoroutineOptions& options) {
  const std::lock_guard lock(mutex_);
  new_options_ = options;
  changed_.notify_all();
}

bool GoroutineWatch::finish(std::chrono::milliseconds patience) {
  thread_.request_stop();
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return ended_; });
}

void GoroutineWatch::run(const std::stop_token& stop) {
  // Held until the thread ends, not until the object does: whoever stops waits for that.
  if (auto readers = std::exchange(parts_.readers, nullptr)) {
    ReaderClient client(std::move(readers));
    DeadlineProcessReader processes(client);
    DeadlineFileOpener files(client);
    DeadlineProcessMemory memory(client);
    CpuMeter meter(client);
    GoroutineSampler sampler(
        {.processes = processes,
         .files = files,
         .memory = memory,
         .clock = parts_.clock,
         .sites = *parts_.sites,
         .view = parts_.view,
         .cpu = [&meter] { return meter.used(); }},
        {.window = parts_.window,
         .totals = parts_.totals,
         .refused =
             [](const std::string& sentence) { log_warning_limited("goroutines", sentence); }},
        first_options_);
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      if (new_options_) sampler.set_options(*std::exchange(new_options_, std::nullopt));
      lock.unlock();
      MonotonicTime next{};
      {
        const PieceOfWork piece(parts_.heartbeat, "looking at goroutines");
        next = sampler.work();
      }
      lock.lock();
      (void)changed_.wait_until(lock, stop, next, [this] { return new_options_.has_value(); });
    }
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace offcpud
