// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/loss_watch.h"
#include "runtime/guarded_init.h"

namespace offcpud {

// Logs that events were lost: of each cause that grows a line a minute at most. Of those that come
// of a guarded process 1, which nobody can avoid, there is one line at all. Single-threaded.
class LossJournal {
 public:
  struct Line {
    LossCount loss;
    std::string text;
  };

  // Call it before switches are counted, where a process is guarded.
  void set_guarded(GuardedInit init) { init_ = std::move(init); }

  // Call it once a pass.
  void record(const std::vector<LossCount>& losses);

  // What to log after this pass, if a line a minute were no limit.
  std::vector<Line> lines(const std::vector<LossCount>& losses);

  // How many of the lost events come of the guard, since the start.
  [[nodiscard]] std::uint64_t of_guard() const { return of_guard_; }

 private:
  std::optional<GuardedInit> init_;  // nullopt: not guarded
  LossWatch losses_;
  std::uint64_t of_guard_ = 0;
  bool guard_told_ = false;
};

}  // namespace offcpud
