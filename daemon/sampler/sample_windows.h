// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include "sampler/sample_window.h"

namespace offcpud {

// The open windows: one for the current snapshot, and one for each profile being taken. Used by one
// thread.
class SampleWindows {
 public:
  static constexpr std::size_t kMost = 8;
  // Limits the sums of all windows until their names are known.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  explicit SampleWindows(std::shared_ptr<const CgroupDirectory> cgroups)
      : cgroups_(std::move(cgroups)) {}

  // Opens a window that begins at that moment and has room for `stacks` different stacks. Call
  // open_snapshot() when there is none, open_profile() when is_full() is false.
  SampleWindow& open_snapshot(const Moment& at, std::chrono::nanoseconds length, std::size_t stacks,
                              std::shared_ptr<const CaptureRules> rules);
  SampleWindow& open_profile(const Moment& at, std::chrono::nanoseconds length, std::size_t stacks);

  [[nodiscard]] bool is_full() const { return windows_.size() >= kMost; }
  [[nodiscard]] bool has_snapshot() const {
    return !windows_.empty() && windows_.front().is_snapshot();
  }
  [[nodiscard]] bool has_profiles() const {
    return !windows_.empty() && !windows_.back().is_snapshot();
  }
  [[nodiscard]] SampleWindow& snapshot() { return windows_.front(); }
  [[nodiscard]] auto begin() { return windows_.begin(); }
  [[nodiscard]] auto end() { return windows_.end(); }

  // The blocks that the kernel must sample for them.
  [[nodiscard]] SampleChoice choice() const { return choice_for(windows_); }

  [[nodiscard]] bool any_due(MonotonicTime at) const;

  // Marks windows as ended, for take_ended(), which removes them, the snapshot last.
  void end_due(MonotonicTime at);
  void end_all();
  std::list<SampleWindow> take_ended();

 private:
  std::shared_ptr<const CgroupDirectory> cgroups_;
  std::shared_ptr<ByteBudget> room_ = std::make_shared<ByteBudget>(kMostBytes);
  std::list<SampleWindow> windows_;  // the snapshot is first
};

}  // namespace offcpud
