// SPDX-License-Identifier: Apache-2.0
#include "pipeline/process_selection.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace offcpud {
namespace {

std::size_t series_of(const ProcessRow& row) {
  const auto& all = row.histograms;
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const auto& histogram) { return !!histogram; }));
}

}  // namespace

void ProcessSelection::set_options(SelectionOptions options) {
  options_ = std::move(options);
  for (auto& [identity, state] : states_) state.judged.reset();
  bound_top();
}

void ProcessSelection::rank(const std::vector<ProcessCandidate>& candidates, MonotonicTime now) {
  std::size_t places = options_.top;
  for (const ProcessCandidate& candidate : candidates) {
    if (places == 0 || candidate.row->actionable_ns == 0) break;
    if (candidate.row->kernel_thread) continue;  // it has no histograms to show
    states_[candidate.identity].in_top = now;
    --places;
  }
  for (auto& [identity, state] : states_) {
    if (state.in_top && now - *state.in_top >= options_.linger) state.in_top.reset();
  }
  forget_ended(candidates);
  bound_top();
}

void ProcessSelection::forget_ended(const std::vector<ProcessCandidate>& candidates) {
  std::set<ProcessIdentity> living;
  for (const ProcessCandidate& candidate : candidates) living.insert(candidate.identity);
  std::erase_if(states_, [&](const auto& entry) { return !living.contains(entry.first); });
}

void ProcessSelection::bound_top() {
  std::vector<State*> members;
  for (auto& [identity, state] : states_) {
    if (state.in_top) members.push_back(&state);
  }
  const std::size_t most = kMostPerPlace * options_.top;
  if (members.size() <= most) return;
  std::sort(members.begin(), members.end(),
            [](const State* a, const State* b) { return *a->in_top > *b->in_top; });
  for (std::size_t i = most; i < members.size(); ++i) members[i]->in_top.reset();
}

bool ProcessSelection::judge(State& state, const ProcessRow& row, MonotonicTime now) const {
  if (!options_.is_chosen) return false;
  const bool known = state.judged && now - *state.judged < kJudgedAgainAfter &&
                     state.judged_comm == row.comm && state.judged_labels == row.labels;
  if (known) return state.chosen;
  state.judged = now;
  state.judged_comm = row.comm;
  state.judged_labels = row.labels;
  return options_.is_chosen(row);
}

void ProcessSelection::select(const std::vector<ProcessCandidate>& candidates, MonotonicTime now,
                              std::size_t max_series) {
  struct Wanted {
    State* state;
    ProcessRow* row;
  };
  std::array<std::vector<Wanted>, 3> wanted;  // in order of precedence
  for (const ProcessCandidate& candidate : candidates) {
    State& state = states_[candidate.identity];
    candidate.row->exported = false;
    state.chosen = !candidate.row->kernel_thread && judge(state, *candidate.row, now);
    const bool before = std::exchange(state.exported, false);
    if (!state.chosen && !state.in_top) continue;
    // in another PID namespace: its series would have no name
    if (candidate.row->pid == 0) continue;
    const std::size_t turn = before ? 0 : state.chosen ? 1 : 2;
    wanted[turn].push_back({&state, candidate.row});
  }
  for (const auto& turn : wanted) {
    for (const Wanted& process : turn) {
      const std::size_t series = series_of(*process.row);
      if (series <= max_series) {
        max_series -= series;
        process.row->exported = process.state->exported = true;
      } else if (!std::exchange(process.state->unfit, true)) {
        ++unfit_total_;
      }
    }
  }
}

}  // namespace offcpud
