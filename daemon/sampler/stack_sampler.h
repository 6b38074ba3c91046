// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "attribution/cgroup_directory.h"
#include "base/clock.h"
#include "base/result.h"
#include "kernel/bpf_session.h"
#include "sampler/sampler_reports.h"
#include "stacks/block_filter.h"

namespace offcpud {

// What the sampler works with. All of it must outlive the sampler; its threads share the directory.
struct SamplerInputs {
  const BpfSession& session;
  const Clock& clock;
  std::shared_ptr<const CgroupDirectory> cgroups;
  // Of the processes that read what processes map and have in memory; not null.
  std::shared_ptr<ReaderSpawner> spawner;
};

// Samples the stacks of blocked threads on a thread of its own, which keeps the capabilities that
// it needs, and names functions on another one, so that no pass waits for either.
class StackSampler {
 public:
  // Needs CAP_BPF and CAP_PERFMON, of which the thread keeps the former: to be called before the
  // caller gives its capabilities up.
  static Result<std::unique_ptr<StackSampler>> start(const SamplerInputs& inputs,
                                                     const SamplerOptions& options,
                                                     SamplerReports reports);
  // Waits for the sampler's thread; see stop().
  ~StackSampler();
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;

  // Ends the snapshot that is open before its time, hands it to `finished`, and waits for both
  // threads. False: one of them hangs, for example in a kernel that waits for a stuck process. Then
  // the object and all that its reports use must never be destroyed: the process has to end without
  // that.
  bool stop(std::chrono::milliseconds patience);

  // From any thread.
  void set_options(const SamplerOptions& options);

  // Samples by `filter` for the next `length`, also what snapshots leave out. The naming thread
  // hands the profile to `done`. From any thread. Error: too many profiles are being taken.
  using Done = std::function<void(Result<SampledSnapshot>)>;
  void take_next(std::chrono::milliseconds length, const BlockFilter& filter, Done done);

 private:
  class Worker;
  explicit StackSampler(std::unique_ptr<Worker> worker);
  std::unique_ptr<Worker> worker_;
};

}  // namespace offcpud
