// SPDX-License-Identifier: Apache-2.0
#include "api/unit_steps.h"

#include <cmath>
#include <string>

#include "base/hist_kind.h"
#include "pipeline/site_history.h"
#include "pipeline/wait_history.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastOfSteps = 5e-4;  // what is less in all steps is left out

bool is_shown(WaitFor wait_for) {
  return actionable(wait_for) || wait_for == WaitFor::Unknown;
}

double ns_of_length(std::chrono::nanoseconds length) {
  return static_cast<double>(length.count());
}

}  // namespace

UnitSteps::UnitSteps(const View& view, const StepGrid& grid, const UnitQuery& query) : grid_(grid) {
  add_sites(view, query);
  add_cpus(view, query);
}

void UnitSteps::spread(Series& series, std::size_t what, double ns,
                       const StepGrid::Shares& shares) {
  std::vector<double>& cells = series[what];
  if (cells.empty()) cells.resize(StepGrid::kCount);
  for (const auto& [step, share] : shares) cells[step] += ns * share;
}

void UnitSteps::add_sites(const View& view, const UnitQuery& query) {
  for (const auto& window : view.site_history) {
    const StepGrid::Shares shares = grid_.shares_of(window->begin, window->end);
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
    const StepGrid::Shares shares = grid_.shares_of(step->begin, step->end);
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

Json UnitSteps::json_of(std::string_view cgroup) const {
  const auto found = units_.find(cgroup);
  return found != units_.end() ? json(found->second) : Json::object();
}

Json UnitSteps::json(const Series& series) const {
  Json by_for = Json::object();
  for (std::size_t what = 0; what < series.size(); ++what) {
    const StepGrid::Cells& known = what == kCpu ? read_ : examined_;
    bool matters = false;
    Json list = Json::array();
    for (std::size_t i = 0; i < series[what].size(); ++i) {
      if (known[i] < StepGrid::kLeastKnown) {
        list.push_back(nullptr);
        continue;
      }
      const double threads = series[what][i] / known[i];
      matters = matters || threads >= kLeastOfSteps;
      list.push_back(std::round(threads * 1e3) / 1e3);  // short in JSON
    }
    if (!matters) continue;
    by_for[what == kCpu ? "cpu" : std::string(kWaitForNames[what])] = std::move(list);
  }
  return by_for;
}

}  // namespace offcpud
