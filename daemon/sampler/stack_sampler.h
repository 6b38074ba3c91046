// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/cgroup_directory.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/object_refusal.h"
#include "base/result.h"
#include "base/stack_losses.h"
#include "kernel/block_samples.h"
#include "mappings/fair_share.h"
#include "reader/reader_client.h"
#include "stacks/block_filter.h"
#include "stacks/capture_rules.h"
#include "stacks/sampled_snapshot.h"

namespace offcpud {

struct SamplerOptions {
  std::chrono::seconds interval{60};  // length of a snapshot
  double stacks_per_second = 200;     // that the sampling interval adapts to
  std::size_t stacks = 16'384;        // different ones that a snapshot keeps apart
  std::shared_ptr<const CaptureRules> capture = std::make_shared<const CaptureRules>();
};

// What the sampler tells; called by its threads.
struct SamplerReports {
  // A snapshot is finished, or had to be given up. By the naming thread, which may outlive the
  // sampler, or by the sampler's.
  std::function<void(Result<SampledSnapshot> sampled)> finished;
  std::function<void(std::uint32_t user_end)> sampled;  // one stack; enum offcpud_unwind_end
  // A stack, new in its window, with functions outside of everything that is known to be mapped:
  // the window had to end before all was followed. By the sampler's thread.
  std::function<void()> located_early;
  std::function<void(std::chrono::nanoseconds interval)> adapted;
  // A program or library, or a process's map of names, asked for more than the limits, and
  // something of it was left out. By the sampler's thread or the naming one.
  std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
  // Every second: the processes whose mappings are not all kept, as they have too many, those with
  // most first; and how many mappings were left out since the start.
  std::function<void(const std::vector<OverShare>& processes, std::uint64_t left_out)> over_share;
  // Every second: what was left out since the start.
  std::function<void(const StackLosses& losses)> losses;
  ReaderReports readers;
  // Something is missing from the stacks; `topic` is the same for the same cause.
  std::function<void(std::string_view topic, const std::string& sentence)> warned;
  // Of its two threads; may be null.
  std::shared_ptr<Heartbeat> stacks, symbols;
};

// What the sampler works with. All of it must outlive the sampler; its threads share the directory.
struct SamplerInputs {
  const BpfSession& session;
  const Clock& clock;
  std::shared_ptr<const CgroupDirectory> cgroups;
  ReaderSpawner& spawner;  // of the processes that read what processes map and have in memory
};

// Samples the stacks of blocked threads on a thread of its own, which keeps the capabilities that
// this takes, and names them on another one, so that no pass waits for either.
class StackSampler {
 public:
  // Needs CAP_BPF and CAP_PERFMON, of which the thread keeps the former: to be called before the
  // caller gives its capabilities up.
  static Result<std::unique_ptr<StackSampler>> start(const SamplerInputs& inputs,
                                                     const SamplerOptions& options,
                                                     SamplerReports reports);
  // Waits for the thread; see stop().
  ~StackSampler();
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;

  // Ends the snapshot that is under way before its time, which `finished` gets, and waits for both
  // threads. False: one of them hangs, as where the kernel waits for a process that is stuck
  // itself; then the object, and what its reports use, must outlive the process.
  bool stop(std::chrono::milliseconds patience);

  // From any thread.
  void set_options(const SamplerOptions& options);

  // What is sampled in the next `length` by `filter`, whatever snapshots leave out, handed to
  // `done` by the naming thread. From any thread. Error: too many do so at the same time.
  using Done = std::function<void(Result<SampledSnapshot>)>;
  void take_next(std::chrono::milliseconds length, const BlockFilter& filter, Done done);

 private:
  class Worker;
  explicit StackSampler(std::unique_ptr<Worker> worker);
  std::unique_ptr<Worker> worker_;
};

}  // namespace offcpud
