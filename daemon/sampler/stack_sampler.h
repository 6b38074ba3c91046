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
#include "sites/site_rules_board.h"
#include "stacks/block_filter.h"

namespace offcpud {

// What the sampler uses. All of it must outlive the sampler; its threads share the directory.
struct SamplerInputs {
  const BpfSession& session;
  const Clock& clock;
  std::shared_ptr<const CgroupDirectory> cgroups;
  // The rules that say what waits are for; not null.
  std::shared_ptr<const SiteRulesBoard> sites;
  // Starts the processes that read files and memory of others; not null.
  std::shared_ptr<ReaderSpawner> spawner;
};

// Samples the stacks of blocked threads on its own thread, which keeps the capabilities that it
// needs, and names functions on another one. No pass waits for either.
class StackSampler {
 public:
  // Needs CAP_BPF and CAP_PERFMON; the thread keeps CAP_BPF. Call it before the caller drops its
  // capabilities.
  static Result<std::unique_ptr<StackSampler>> start(const SamplerInputs& inputs,
                                                     const SamplerOptions& options,
                                                     SamplerReports reports);
  // Waits for the sampler's thread; see stop().
  ~StackSampler();
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;

  // Ends the open snapshot early, passes it to `finished`, and waits for both threads. False: one
  // of them hangs, for example in a kernel that waits for a stuck process. Then neither the object
  // nor anything that its reports use may be destroyed; the process must end without that.
  bool stop(std::chrono::milliseconds patience);

  // For other clients that read processes. They must be gone before stop() returns. Any thread may
  // call it.
  [[nodiscard]] std::shared_ptr<ReaderShare> readers() const;

  // Any thread may call it.
  void set_options(const SamplerOptions& options);

  // Takes a profile of the next `length` by `filter`, including what snapshots exclude. The symbols
  // thread passes it to `done`. Any thread may call it. Error: too many profiles are being taken.
  using Done = std::function<void(Result<SampledSnapshot>)>;
  void take_next(std::chrono::milliseconds length, const BlockFilter& filter, Done done);

 private:
  class Worker;
  explicit StackSampler(std::unique_ptr<Worker> worker);
  std::unique_ptr<Worker> worker_;
};

}  // namespace offcpud
