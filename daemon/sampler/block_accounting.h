// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "sampler/address_locator.h"
#include "sampler/naming_queue.h"
#include "sampler/sample_windows.h"
#include "sampler/sampler_reports.h"
#include "sampler/sleeper_stacks.h"
#include "stacks/adaptive_rate.h"
#include "stacks/sampled_block.h"
#include "stacks/stack_source.h"

namespace offcpud {

// What the accounting works with. All of it must outlive the accounting.
struct AccountingParts {
  StackSource& kernel;
  AddressLocator& addresses;
  SleeperStacks& sleepers;
  NamingQueue& naming;
  std::shared_ptr<const CgroupDirectory> cgroups;
  const Clock& clock;
};

// Accounts sampled blocks to the windows that are open: takes them over from the kernel, locates
// their addresses, and has what a window holds named when the window ends. One snapshot follows the
// other without a gap. Used by one thread.
class BlockAccounting {
 public:
  // `reports` must outlive the object.
  BlockAccounting(AccountingParts parts, const SamplerOptions& options,
                  const SamplerReports& reports);
  // From now on nothing is sampled.
  ~BlockAccounting();
  BlockAccounting(const BlockAccounting&) = delete;
  BlockAccounting& operator=(const BlockAccounting&) = delete;

  // To be called at this interval, which may be another one after each call of the others.
  void tick();
  [[nodiscard]] std::chrono::milliseconds tick_interval() const;

  // To be called between two steps of AddressLocator::follow(), which may take long: ends windows
  // that are overdue.
  void keep_time();

  void set_options(const SamplerOptions& options);

  // Takes a profile; see StackSampler::take_next().
  void take_next(std::chrono::milliseconds length, const BlockFilter& filter,
                 NamingQueue::Done done);

  // Ends all windows before their time. After that nothing is accounted, and profiles are refused.
  void stop();

 private:
  void take_samples();
  void account(const SampledBlock& block);
  void count(const offcpud_sample& sample);
  void add(SampleWindow& window, const SampledBlock& block);
  void account_blocked();
  void take_blocked();
  void take_blocked(const offcpud_blocked_record& record);
  void adapt();
  void choose();
  void set_focuses(const std::vector<std::uint32_t>& focuses);
  void end_due();
  void close_ending(const Moment& at);
  void close(SampleWindow& window, const Moment& at);
  void name_kernel(SampledInterval& interval);
  void open_snapshot(const Moment& at);
  [[nodiscard]] Moment moment() const { return {parts_.clock.now(), parts_.clock.wall()}; }

  // Whose stacks are read at once.
  static constexpr std::size_t kBlockedAtOnce = 96;

  const AccountingParts parts_;
  SamplerOptions options_;
  const SamplerReports& reports_;
  SampleWindows windows_;
  MonotonicTime rules_since_{};  // when options_.capture came into force
  AdaptiveRate rate_;
  // Processes and threads that are profiled, and the rate of what is sampled only for them.
  std::vector<std::uint32_t> focuses_;
  AdaptiveRate focus_rate_;
  // Blocks in progress that a profile which ends has been given although the kernel has not
  // accounted them, by thread and beginning. While windows are closed only.
  std::set<std::pair<std::uint32_t, std::uint64_t>> young_;
  std::vector<offcpud_blocked_record> blocked_records_;  // kBlockedAtOnce at most
  std::vector<KeptSample> kept_;                         // taken over, and not located yet
  bool closing_ = false;
  bool following_ = false;  // windows end in the middle of AddressLocator::follow()
  bool stopped_ = false;
};

}  // namespace offcpud
