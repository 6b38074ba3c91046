// SPDX-License-Identifier: Apache-2.0
#include "api/unit_steps.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/hist_kind.h"
#include "base/utc.h"
#include "pipeline/site_history.h"
#include "pipeline/wait_history.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastKnown = 2e9;     // ns; less of a step does not stand for it
constexpr double kLeastThreads = 5e-4;  // what is less in all steps is left out

bool is_shown(WaitFor wait_for) {
  return actionable(wait_for) || wait_for == WaitFor::Unknown;
}

double ns_of_length(std::chrono::nanoseconds length) {
  return static_cast<double>(length.count());
}

}  // namespace

UnitSteps::UnitSteps(const View& view, const UnitQuery& query) {
  const MonotonicTime last = view.site_history.empty() ? view.taken : view.site_history.back()->end;
  const WallTime known =
      view.taken_wall - std::chrono::duration_cast<WallTime::duration>(view.taken - last);
  // Too little of the last step is no step yet.
  const auto beyond = known.time_since_epoch() % kStep;
  end_wall_ = known - beyond;
  if (ns_of_length(beyond) >= kLeastKnown) end_wall_ += kStep;
  end_ = last + (end_wall_ - known);
  add_sites(view, query);
  add_cpus(view, query);
}

UnitSteps::Shares UnitSteps::shares_of(MonotonicTime begin, MonotonicTime end) const {
  Shares shares;
  if (end <= begin) return shares;
  for (std::size_t i = 0; i < kCount; ++i) {
    const MonotonicTime step_end = end_ - kStep * static_cast<int>(kCount - 1 - i);
    const auto within = std::min(end, step_end) - std::max(begin, step_end - kStep);
    if (within.count() > 0)
      shares.emplace_back(i, ns_of_length(within) / ns_of_length(end - begin));
  }
  return shares;
}

void UnitSteps::spread(Series& series, std::size_t what, double ns, const Shares& shares) {
  std::vector<double>& cells = series[what];
  if (cells.empty()) cells.resize(kCount);
  for (const auto& [step, share] : shares) cells[step] += ns * share;
}

void UnitSteps::add_sites(const View& view, const UnitQuery& query) {
  for (const auto& window : view.site_history) {
    const Shares shares = shares_of(window->begin, window->end);
    for (const auto& [step, share] : shares) {
      examined_[step] += share * ns_of_length(window->length());
    }
    for (const CgroupWaits& waits : window->sites) {
      const double ns = waits.time.ns - waits.child.ns;
      if (!is_shown(waits.wait_for) || ns <= 0 || !query.admits(*waits.cgroup)) continue;
      const auto what = static_cast<std::size_t>(waits.wait_for);
      spread(units_[*waits.cgroup], what, ns, shares);
      spread(total_, what, ns, shares);
    }
  }
}

void UnitSteps::add_cpus(const View& view, const UnitQuery& query) {
  for (const auto& step : view.history) {
    const Shares shares = shares_of(step->begin, step->end);
    for (const auto& [cell, share] : shares) read_[cell] += share * ns_of_length(step->length());
    const std::string* cgroup = nullptr;
    step->for_each(
        [&](const WaitStep::Subject& subject) {
          cgroup = query.admits(subject.labels->cgroup) ? &subject.labels->cgroup : nullptr;
        },
        [&](const WaitStep::Wait& wait) {
          if (cgroup == nullptr || is_blocked_kind(wait.kind) || wait.waited_ns == 0) return;
          const auto ns = static_cast<double>(wait.waited_ns);
          spread(units_[*cgroup], kCpu, ns, shares);
          spread(total_, kCpu, ns, shares);
        },
        [](std::size_t, std::uint64_t) {});
  }
}

Json UnitSteps::grid_json() const {
  return {{"end", rfc3339(end_wall_)}, {"seconds", kStep.count()}, {"count", kCount}};
}

Json UnitSteps::json_of(std::string_view cgroup) const {
  const auto found = units_.find(cgroup);
  return found != units_.end() ? json(found->second) : Json::object();
}

Json UnitSteps::json(const Series& series) const {
  Json by_for = Json::object();
  for (std::size_t what = 0; what < series.size(); ++what) {
    const Cells& known = what == kCpu ? read_ : examined_;
    bool matters = false;
    Json list = Json::array();
    for (std::size_t i = 0; i < series[what].size(); ++i) {
      if (known[i] < kLeastKnown) {
        list.push_back(nullptr);
        continue;
      }
      const double threads = series[what][i] / known[i];
      matters = matters || threads >= kLeastThreads;
      list.push_back(std::round(threads * 1e3) / 1e3);  // short in JSON
    }
    if (!matters) continue;
    by_for[what == kCpu ? "cpu" : std::string(kWaitForNames[what])] = std::move(list);
  }
  return by_for;
}

}  // namespace offcpud
