// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "jit/jit_codes.h"
#include "sampler/address_locator.h"
#include "sampler/gil_looks.h"
#include "sampler/holder_finder.h"
#include "sampler/kernel_frames.h"
#include "sampler/naming_queue.h"
#include "sampler/python_stacks.h"
#include "sampler/sample_windows.h"
#include "sampler/sampler_reports.h"
#include "sampler/sleeper_stacks.h"
#include "sampler/wait_counting.h"
#include "stacks/adaptive_rate.h"
#include "stacks/sampled_block.h"
#include "stacks/stack_allocation.h"
#include "stacks/stack_source.h"

namespace offcpud {

// The parts that the accounting uses. All must outlive it.
struct AccountingParts {
  StackSource& kernel;
  AddressLocator& addresses;
  SleeperStacks& sleepers;
  HolderFinder& holders;
  NamingQueue& naming;
  JitCodes* jit;         // null: code made at run time is not read from memory
  PythonStacks* python;  // null: functions of Python are not read from memory
  GilLooks* gils;        // null: nobody asks who holds the GIL of programs of Python
  std::shared_ptr<const CgroupDirectory> cgroups;
  const Clock& clock;
};

// Accounts sampled blocks to the open windows: drains them from the kernel, locates their
// addresses, and has the sums of a window named when the window ends. Snapshots follow one another
// without a gap. Used by one thread.
class BlockAccounting {
 public:
  // `reports` must outlive the object.
  BlockAccounting(AccountingParts parts, const SamplerOptions& options,
                  const SamplerReports& reports);
  // Stops sampling.
  ~BlockAccounting();
  BlockAccounting(const BlockAccounting&) = delete;
  BlockAccounting& operator=(const BlockAccounting&) = delete;

  // Call it every tick_interval(), which any other call may change.
  void tick();
  [[nodiscard]] std::chrono::milliseconds tick_interval() const;

  // Call it between two steps of AddressLocator::follow(), which may take long: ends overdue
  // windows.
  void keep_time();

  void set_options(const SamplerOptions& options);

  // Starts a profile; see StackSampler::take_next().
  void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                 NamingQueue::Done done);

  // Sockets for which SocketTable had no room, since the start.
  [[nodiscard]] std::uint64_t sockets_left_out() const {
    return waits_ ? waits_->sockets_left_out() : 0;
  }

  // Ends all windows early. After that nothing is accounted, and profiles are refused.
  void stop();

 private:
  void take_samples();
  void follow_sockets();
  void account(SampledBlock block);
  void count(const offcpud_sample& sample);
  void add(SampleWindow& window, const SampledBlock& block);
  void note_python(const offcpud_sample& sample, std::span<const LocatedFrame> user);
  void account_blocked(bool finds_holders);
  void take_blocked();
  void take_blocked(const offcpud_blocked_record& record, const RemoteStack& stack);
  std::vector<RemoteStack> walk_stacks();
  void look_at_python();
  void find_holders();
  void adapt();
  void choose();
  void set_targets(const std::vector<std::uint32_t>& targets);
  void end_due();
  void close_ending(const Moment& at);
  void close(SampleWindow& window, const Moment& at);
  void close_waits(const Moment& at);
  [[nodiscard]] bool is_any_due(MonotonicTime now) const;
  void name_kernel(SampledInterval& interval);
  void name_kernel(WaitInterval& interval);
  void name_kernel(const std::unordered_set<std::uint64_t>& addresses, KernelFrames::Names& names);
  void open_snapshot(const Moment& at);
  [[nodiscard]] Moment moment() const { return {parts_.clock.now(), parts_.clock.wall()}; }

  // Number of threads whose stacks are read together.
  static constexpr std::size_t kBlockedAtOnce = 96;

  const AccountingParts parts_;
  SamplerOptions options_;
  const SamplerReports& reports_;
  SampleWindows windows_;
  std::optional<WaitCounting> waits_;            // nothing: nobody wants them
  std::shared_ptr<const SiteRules> wait_rules_;  // by which the last window was examined
  KernelFrames kernel_frames_;
  MonotonicTime rules_since_{};  // when options_.capture took effect
  StackAllocation allocation_;
  StratumWeights weights_;  // of the strata, by what their waits were for
  MonotonicTime adapted_;   // when allocation_ was adapted
  // The targets: processes and threads that are profiled. target_rate_ is the sampling rate of what
  // is sampled only for them.
  std::vector<std::uint32_t> targets_;
  AdaptiveRate target_rate_;
  // Blocks in progress, by thread and beginning, that were accounted to an ending profile and that
  // the kernel may report again when they end. Only used while windows are being closed.
  std::set<std::pair<std::uint32_t, std::uint64_t>> young_;
  std::vector<offcpud_blocked_record> blocked_records_;  // at most kBlockedAtOnce
  std::vector<KeptSample> kept_;                         // drained, but not located yet
  MonotonicTime looks_at_{};                             // when to look at Python programs next
  bool closing_ = false;
  bool finds_holders_ = false;  // in this walk
  bool following_ = false;      // windows end in the middle of AddressLocator::follow()
  bool stopped_ = false;
};

}  // namespace offcpud
