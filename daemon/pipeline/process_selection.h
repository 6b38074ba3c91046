// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/thread_interval.h"
#include "pipeline/view.h"

namespace offcpud {

struct SelectionOptions {
  std::size_t top = 10;              // those that wait most are selected; 0: none
  std::chrono::seconds linger{600};  // how long one stays that is no longer among them
  // Whether a rule selects the process: of the row, pid, comm, labels and kernel_thread are set.
  // Null: no rule. Called when the process, its comm or its cgroup is new, and once in a while,
  // because a program of the same name may take its place.
  std::function<bool(const ProcessRow&)> is_chosen;
};

struct ProcessCandidate {
  ProcessIdentity identity;
  ProcessRow* row;  // never null
};

// Which processes have series of their own. One that was among the top stays until it ends, has
// been out of the top for `linger`, or more than kMostPerPlace * top processes stay; then the one
// that has been out for longest goes first. Single-threaded.
class ProcessSelection {
 public:
  static constexpr std::size_t kMostPerPlace = 4;
  static constexpr std::chrono::seconds kJudgedAgainAfter{60};

  explicit ProcessSelection(SelectionOptions options) : options_(std::move(options)) {}
  void set_options(SelectionOptions options);

  // Once for each walk. `candidates`: all processes there are, by actionable wait, the longest
  // first. One without any never gets into the top.
  void rank(const std::vector<ProcessCandidate>& candidates, MonotonicTime now);

  // Sets `exported` of every row: of those selected, as far as their histograms fit into
  // `max_series`. Those exported before come first, then those chosen by rule, then by wait.
  void select(const std::vector<ProcessCandidate>& candidates, MonotonicTime now,
              std::size_t max_series);

  // Processes that were selected but did not fit, since the start; each counts once.
  [[nodiscard]] std::uint64_t unfit_total() const { return unfit_total_; }

 private:
  struct State {
    std::optional<MonotonicTime> in_top;  // last time; nullopt: never, or it left
    std::optional<MonotonicTime> judged;  // by the rules
    std::string judged_comm;
    std::shared_ptr<const SubjectLabels> judged_labels;
    bool chosen = false;
    bool exported = false;
    bool unfit = false;
  };

  void forget_ended(const std::vector<ProcessCandidate>& candidates);
  void bound_top();
  bool judge(State& state, const ProcessRow& row, MonotonicTime now) const;

  SelectionOptions options_;
  std::map<ProcessIdentity, State> states_;
  std::uint64_t unfit_total_ = 0;
};

}  // namespace offcpud
