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

// Logs lost events: for each cause that grows, one line a minute at most. Losses that a guarded
// process 1 causes get a single line in the daemon's life, because nobody can avoid them.
// Single-threaded.
class LossJournal {
 public:
  struct Line {
    LossCount loss;
    std::string text;
  };

  // If process 1 is guarded, call this before switches are counted.
  void set_guarded(GuardedInit init) { init_ = std::move(init); }

  // Call it once a pass.
  void record(const std::vector<LossCount>& losses);

  // The lines for this pass, without the limit of one a minute.
  std::vector<Line> lines(const std::vector<LossCount>& losses);

  // How many events were lost because of the guard, since the start.
  [[nodiscard]] std::uint64_t of_guard() const { return of_guard_; }

 private:
  std::optional<GuardedInit> init_;  // nullopt: not guarded
  LossWatch losses_;
  std::uint64_t of_guard_ = 0;
  bool guard_told_ = false;
};

}  // namespace offcpud
