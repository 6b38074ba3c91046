// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "runtime/event_loop.h"
#include "sampler/blocked_stacks.h"
#include "sampler/process_names.h"
#include "sampler/sample_window.h"
#include "sampler/stack_sampler.h"
#include "sampler/stack_sources.h"
#include "sampling/sampling_rate.h"

namespace offcpud {

// The work of the sampler's thread: takes samples over, locates them, and closes the snapshots.
class SamplingLoop {
 public:
  static Result<std::unique_ptr<SamplingLoop>> open(const BpfSession& session, const Clock& clock,
                                                    EventLoop& loop, const SamplerOptions& options,
                                                    SamplerReports reports);
  ~SamplingLoop();

  void set_options(const SamplerOptions& options);
  void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                 StackSampler::Done done);
  // Ends the snapshot under way, and the loop.
  void stop();
  // After the loop: waits until what was sampled has its names, or for so long.
  void finish(std::chrono::milliseconds patience);

 private:
  // Twice in the time in which a ring fills at the usual rate, and soon enough for short processes.
  static constexpr std::chrono::milliseconds kTick{250};
  static constexpr std::chrono::milliseconds kBetweenStarts{10};
  static constexpr std::chrono::seconds kAdaptEvery{1};
  static constexpr std::size_t kMostWindows = 8;
  static constexpr int kMostNaming = 4;
  static constexpr std::size_t kMostStacksOfThreads = 16'384;

  SamplingLoop(const BpfSession& session, const Clock& clock, EventLoop& loop,
               const SamplerOptions& options, SamplerReports reports,
               std::unique_ptr<BlockSamples> samples);
  Status wire();
  void tick();
  void follow();
  void take_samples();
  void take(const SampledBlock& block);
  void credit_blocked();
  void take_blocked(const offcpud_blocked_record& record);
  void add(SampleWindow& window, const SampledBlock& block);
  void adapt();
  void choose();
  // A walk over the blocked threads, and then the end of the windows that are due; one that begins
  // begins at the same moment, just before the walk, so that no time is between them.
  void turn(bool all);
  void close_due(const Moment& at, bool all);
  void close(SampleWindow& window, const Moment& at);
  void begin_snapshot(const Moment& at);
  [[nodiscard]] Moment moment() const { return {clock_.now(), clock_.wall()}; }
  void name_kernel(SampledInterval& interval);
  void capture_runtime(const BlockSum& sum);

  const BpfSession& session_;
  const Clock& clock_;
  EventLoop& loop_;
  SamplerOptions options_;
  SamplerReports reports_;
  std::unique_ptr<BlockSamples> samples_;
  SymbolWorker symbols_;
  StackSources sources_;
  BlockedStacks blocked_;
  std::shared_ptr<RuntimeNames> runtime_;  // of the worker's thread
  SamplingRate rate_;
  std::uint64_t taken_ = 0;  // since the rate was adapted
  MonotonicTime adapted_;
  std::list<SampleWindow> windows_;  // the first is the snapshot's
  std::set<std::pair<std::uint32_t, std::uint64_t>>
      runtime_seen_;  // processes with code of their own
  std::shared_ptr<std::atomic<int>> naming_ = std::make_shared<std::atomic<int>>(0);  // jobs
  bool stopped_ = false;
};

}  // namespace offcpud
