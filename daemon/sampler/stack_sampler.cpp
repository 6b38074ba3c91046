// SPDX-License-Identifier: Apache-2.0
#include "sampler/stack_sampler.h"

#include <future>
#include <thread>

#include "base/call_gate.h"
#include "base/thread_start.h"
#include "runtime/event_loop.h"
#include "runtime/privileges.h"
#include "sampler/sampling_loop.h"

namespace offcpud {
namespace {

// For new tables and walks over threads.
constexpr Capability kKept[] = {Capability::Bpf};

// Limit for naming at the end: stopping takes less than 2 s in all.
constexpr std::chrono::milliseconds kNaming{500};

}  // namespace

// The sampler's thread. Everything but `loop` is created and destroyed on it.
class StackSampler::Worker {
 public:
  Worker(const SamplerInputs& inputs, SamplerOptions options, SamplerReports reports)
      : inputs_(inputs),
        options_(std::move(options)),
        reports_(guarded(std::move(reports))),
        readers_(std::make_shared<ReaderShare>(inputs.spawner, reports_.readers)) {}

  Status start() {
    std::promise<Status> ready;
    auto started = ready.get_future();
    thread_ = start_thread("offcpud-stacks", [this, &ready] {
      run(ready);
      end_.set_value();
    });
    return started.get();
  }

  ~Worker() {
    request_stop();
    if (thread_.joinable()) thread_.join();
  }

  bool stop(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    request_stop();
    if (ended_.wait_until(until) != std::future_status::ready) return false;
    // The symbols thread may outlive the sampler's; it holds the readers until it ends, as do other
    // clients.
    while (readers_.use_count() > 1) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  [[nodiscard]] const std::shared_ptr<ReaderShare>& readers() const { return readers_; }

  // Runs `job` on the thread. It is dropped if the thread has stopped.
  void post(std::function<void(SamplingLoop&)> job) {
    if (!loop_) return;
    loop_->post([this, job = std::move(job)] {
      if (sampling_) job(*sampling_);
    });
  }

 private:
  // Wraps what the symbols thread calls: if it hangs, it outlives this object, for example after a
  // failed start.
  SamplerReports guarded(SamplerReports reports) const {
    reports.refused = gate_.guard(std::move(reports.refused));
    ReaderReports& readers = reports.readers;
    readers.hung = gate_.guard(std::move(readers.hung));
    readers.refused = gate_.guard(std::move(readers.refused));
    readers.stuck = gate_.guard(std::move(readers.stuck));
    readers.spent = gate_.guard(std::move(readers.spent));
    return reports;
  }

  void request_stop() {
    post([](SamplingLoop& sampling) { sampling.stop(); });
  }

  Status set_up() {
    TRY(loop_, EventLoop::create(reports_.stacks));
    TRY(sampling_, SamplingLoop::open(inputs_, *loop_, options_, std::move(reports_), readers_));
    return drop_capabilities(kKept);
  }

  void run(std::promise<Status>& ready) {
    const auto status = set_up();
    const bool runs = static_cast<bool>(status);
    ready.set_value(status);
    if (runs) {
      (void)loop_->run();
      sampling_->finish(kNaming);
    }
    readers_->stopping = true;
    sampling_.reset();
  }

  const SamplerInputs inputs_;
  SamplerOptions options_;
  const CallGate gate_;
  SamplerReports reports_;
  std::shared_ptr<ReaderShare> readers_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<SamplingLoop> sampling_;
  std::promise<void> end_;
  std::future<void> ended_ = end_.get_future();
  std::thread thread_;
};

StackSampler::StackSampler(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
StackSampler::~StackSampler() = default;

Result<std::unique_ptr<StackSampler>> StackSampler::start(const SamplerInputs& inputs,
                                                          const SamplerOptions& options,
                                                          SamplerReports reports) {
  auto worker = std::make_unique<Worker>(inputs, options, std::move(reports));
  TRY_VOID(worker->start());
  return std::unique_ptr<StackSampler>(new StackSampler(std::move(worker)));
}

bool StackSampler::stop(std::chrono::milliseconds patience) {
  return worker_->stop(patience);
}

std::shared_ptr<ReaderShare> StackSampler::readers() const {
  return worker_->readers();
}

void StackSampler::set_options(const SamplerOptions& options) {
  worker_->post([options](SamplingLoop& sampling) { sampling.set_options(options); });
}

void StackSampler::take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                             Done done) {
  worker_->post([length, filter, done = std::move(done)](SamplingLoop& sampling) {
    sampling.take_next(length, filter, done);
  });
}

}  // namespace offcpud
