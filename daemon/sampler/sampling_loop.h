// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/event_loop.h"
#include "sampler/blocked_stacks.h"
#include "sampler/process_names.h"
#include "sampler/sample_window.h"
#include "sampler/stack_sampler.h"
#include "sampler/stack_sources.h"
#include "stacks/sampled_block.h"
#include "stacks/sampling_rate.h"

namespace offcpud {

// How the thread that reads symbols reads what belongs to processes. Made by another one, used by
// it alone.
struct SymbolReads {
  explicit SymbolReads(std::shared_ptr<ReaderShare> readers) : client(std::move(readers)) {}
  ReaderClient client;
  DeadlineFilesBelow debug_files{client};
};

// The work of the sampler's thread: takes samples over, locates them, and closes the snapshots.
class SamplingLoop {
 public:
  static Result<std::unique_ptr<SamplingLoop>> open(const SamplerInputs& inputs, EventLoop& loop,
                                                    const SamplerOptions& options,
                                                    SamplerReports reports,
                                                    const std::shared_ptr<ReaderShare>& readers);
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
  // While profiles are taken: they end on time, and the interval of a focus is found soon.
  static constexpr std::chrono::milliseconds kProfileTick{50};
  static constexpr double kFocusStacksPerSecond = 4000;
  static constexpr std::chrono::milliseconds kBetweenStarts{10};
  static constexpr std::chrono::seconds kAdaptEvery{1};
  // A window is to end within 1 s of its time. Before this the next tick may still come.
  static constexpr std::chrono::milliseconds kOverdue{500};
  static constexpr std::size_t kMostWindows = 8;
  static constexpr int kMostNaming = kMostWindows + 2;  // of those that end at once, and before
  // Whose stacks are read at once.
  static constexpr std::size_t kBlockedAtOnce = 96;
  // Of the sums of all windows, until they have their names.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  SamplingLoop(const SamplerInputs& inputs, EventLoop& loop, const SamplerOptions& options,
               SamplerReports reports, const std::shared_ptr<ReaderShare>& readers, std::unique_ptr<BlockSamples> samples);
  Status wire();
  void tick();
  void follow();
  void take_samples();
  void take(const SampledBlock& block);
  void count(const offcpud_sample& sample);
  void credit_blocked(bool young);
  void take_blocked();
  void take_blocked(const offcpud_blocked_record& record);
  void add(SampleWindow& window, const SampledBlock& block);
  void adapt();
  void adapt_focus(MonotonicTime now);
  void choose();
  void set_pace();
  void set_focus(const std::vector<std::uint32_t>& focuses);
  // A walk over the blocked threads, and then the end of the windows that are due; one that begins
  // begins at the same moment, just before the walk, so that no time is between them.
  void turn(bool all);
  // In the middle of what takes long: ends the windows that are overdue.
  void keep_time();
  void close_due(const Moment& at, bool all);
  void close(SampleWindow& window, const Moment& at);
  void begin_snapshot(const Moment& at);
  [[nodiscard]] CgroupPaths no_paths_yet() const { return CgroupPaths(cgroups_); }
  [[nodiscard]] Moment moment() const { return {clock_.now(), clock_.wall()}; }
  void name_kernel(SampledInterval& interval);
  [[nodiscard]] std::vector<ObjectId> loads_of(const SampledInterval& interval) const;
  // Another piece of work begins, for whoever asks why this thread hangs. Each is a small one: one
  // object, one thread; of many of them on a busy host none hangs.
  void at(const char* work) const;
  void capture_runtime(const BlockSum& sum);

  const BpfSession& session_;
  const Clock& clock_;
  const std::shared_ptr<const CgroupDirectory> cgroups_;
  EventLoop& loop_;
  SamplerOptions options_;
  SamplerReports reports_;
  std::unique_ptr<BlockSamples> samples_;
  std::shared_ptr<ReaderShare> readers_;
  ReaderClient client_;
  DeadlineProcessMemory memory_{client_};
  std::shared_ptr<SymbolReads> symbol_reads_;  // of the worker's thread
  SymbolWorker symbols_;
  StackSources sources_;
  BlockedStacks blocked_;
  std::shared_ptr<RuntimeNames> runtime_;  // of the worker's thread
  SamplingRate rate_;
  double taken_ = 0;  // since the rate was adapted
  MonotonicTime adapted_;
  std::vector<std::uint32_t> focuses_;
  // By thread and beginning: blocks that a profile which ends has been given without their being
  // credited. During turn() only.
  std::set<std::pair<std::uint32_t, std::uint64_t>> young_;
  std::vector<offcpud_blocked_record> blocked_records_;  // kBlockedAtOnce at most
  SamplingRate focus_rate_;
  double focus_taken_ = 0;  // as taken_ and adapted_
  MonotonicTime focus_adapted_;
  EventLoop::Timer* timer_ = nullptr;
  std::chrono::milliseconds pace_ = kTick;
  std::shared_ptr<ByteBudget> room_ = std::make_shared<ByteBudget>(kMostBytes);
  std::list<SampleWindow> windows_;  // the first is the snapshot's
  MonotonicTime capture_since_{};    // when options_.capture came into force
  // Processes with code of their own, and by which number its names are read.
  std::map<std::pair<std::uint32_t, std::uint64_t>, ObjectId> runtime_seen_;
  std::shared_ptr<std::atomic<int>> naming_ = std::make_shared<std::atomic<int>>(0);  // jobs
  std::vector<KeptSample> kept_;  // taken over, and not located yet
  bool turns_ = false;
  bool keeps_time_ = false;  // in the middle of following
  bool stopped_ = false;
};

}  // namespace offcpud
