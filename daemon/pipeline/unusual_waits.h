// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "pipeline/stall_log.h"
#include "pipeline/unit_activity.h"
#include "pipeline/unusual_wait.h"
#include "pipeline/view.h"
#include "pipeline/wait_window.h"

namespace offcpud {

// Finds unusual waits among the blocks that are as long as stalls and of which nobody can tell what
// they are for. A wait is unusual if its place has been silent for `factor` times as long as 99 %
// of the waits there took, and its cgroup has work to do. The cgroup has work if it is at least
// half as busy as was usual when the block was first seen, and not nearly idle. It also has work if
// a told stall of it, which still lasts, began at about the same time: the block may be waiting for
// that. A server whose clients went home falls silent too, but it is idle. Used by one thread.
class UnusualWaits {
 public:
  // The most that one call finds. If there are more, cgroups with many give way to those with few.
  static constexpr std::size_t kMost = 100;
  static constexpr double kStillBusy = 0.5;             // of what is usual
  static constexpr double kLeastBusy = 0.05;            // CPUs; runtimes use less for themselves
  static constexpr std::chrono::seconds kTogether{10};  // beginnings of a block and of a stall

  // 0: none is unusual.
  void set_factor(std::uint32_t factor) { factor_ = factor; }

  // Takes over the window that was examined last.
  void take_examined(const WaitWindow& window);

  // Call it once a pass; both are of this pass. Oldest first.
  std::vector<UnusualWait> find(std::span<const SubjectSeries> subjects, const StallList& stalls,
                                MonotonicTime now);

 private:
  [[nodiscard]] std::shared_ptr<const UsualWaits> usual_of(const Stall& stall) const;
  [[nodiscard]] bool has_work(const Stall& stall, const StallList& stalls) const;

  std::uint32_t factor_ = 0;
  UnitActivity activity_;
  std::map<StallId, std::shared_ptr<const UsualWaits>> usual_;
  // How busy a cgroup usually was when its block was first seen here, in CPUs. Kept, because what
  // is usual falls once the cgroup has become idle for the night.
  std::map<StallId, double> busy_before_;
};

}  // namespace offcpud
