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
  std::size_t top = 10;              // how many of those that wait most are selected; 0: none
  std::chrono::seconds linger{600};  // how long a process stays selected after leaving the top
  // Whether a rule selects the process. Of the row, pid, comm, labels and kernel_thread are set.
  // Null: there is no rule. Called when the process, its comm or its cgroup is new, and again from
  // time to time, because a process may execute another program of the same name.
  std::function<bool(const ProcessRow&)> is_chosen;
};

struct ProcessCandidate {
  ProcessIdentity identity;
  ProcessRow* row;  // never null
};

// Selects the processes that have series of their own. A process that was in the top stays selected
// until it ends or has been out of the top for `linger`. If more than kMostPerPlace * top processes
// stay, those that have been out for longest go first. Single-threaded.
class ProcessSelection {
 public:
  static constexpr std::size_t kMostPerPlace = 4;
  static constexpr std::chrono::seconds kJudgedAgainAfter{60};

  explicit ProcessSelection(SelectionOptions options) : options_(std::move(options)) {}
  void set_options(SelectionOptions options);

  // Call once per walk. `candidates`: all processes, the longest actionable wait first. A process
  // without any such wait never enters the top.
  void rank(const std::vector<ProcessCandidate>& candidates, MonotonicTime now);

  // Sets `exported` of every row: true for selected processes whose histograms fit into
  // `max_series`. Those already exported take precedence, then those selected by rule, then by
  // wait.
  void select(const std::vector<ProcessCandidate>& candidates, MonotonicTime now,
              std::size_t max_series);

  // How many selected processes did not fit since the start; each counts once.
  [[nodiscard]] std::uint64_t unfit_total() const { return unfit_total_; }

 private:
  struct State {
    std::optional<MonotonicTime> in_top;  // last time; nullopt: never, or no longer selected
    std::optional<MonotonicTime> judged;  // when the rules were last applied
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
