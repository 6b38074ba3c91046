// SPDX-License-Identifier: Apache-2.0
#include "api/unit_lengths.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/hist_kind.h"
#include "pipeline/site_history.h"
#include "pipeline/wait_history.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSecond = 1e9;  // ns

// What is below a path has rows of its own; what is below a unit mostly belongs to it.
bool selects(const CgroupFilter& filter, const std::string& path) {
  return filter.is_unit() ? filter.admits(path) : filter.admits_itself(path);
}

// Short in JSON.
double rounded(double value) {
  return std::round(value * 1e3) / 1e3;
}

std::string name_of_kind(std::size_t what) {
  return what == kWaitForNames.size() ? "cpu" : std::string(kWaitForNames[what]);
}

}  // namespace

UnitLengths::UnitLengths(const View& view, const StepGrid& grid, const CgroupFilter& cgroup)
    : grid_(grid) {
  add_ended(view, cgroup);
  add_lasting(view, cgroup);
}

void UnitLengths::add_cell(std::size_t what, std::size_t slot, std::uint64_t count,
                           const StepGrid::Shares& shares) {
  static_assert(octave_of(OFFCPUD_SLOTS - 1) == kOctaves - 1);
  static_assert(octave_of(OFFCPUD_SLOTS - 2) == kOctaves - 2);
  Octaves& octaves = ended_[what];
  if (octaves.empty()) octaves.resize(kOctaves);
  StepGrid::Cells& cells = octaves[octave_of(slot)];
  for (const auto& [step, share] : shares) cells[step] += static_cast<double>(count) * share;
}

void UnitLengths::add_ended(const View& view, const CgroupFilter& cgroup) {
  for (const auto& step : view.history) {
    const StepGrid::Shares shares = grid_.shares_of(step->begin, step->end);
    const auto length = static_cast<double>(step->length().count());
    for (const auto& [cell, share] : shares) read_[cell] += share * length;
    step->for_each_length(
        [&](const SubjectLabels& labels, WaitFor wait_for, std::size_t slot, std::uint64_t count) {
          if (!selects(cgroup, labels.cgroup)) return;
          add_cell(static_cast<std::size_t>(wait_for), slot, count, shares);
        });
    bool selected = false, cpu = false;
    step->for_each(
        [&](const WaitStep::Subject& subject) {
          selected = selects(cgroup, subject.labels->cgroup);
        },
        [&](const WaitStep::Wait& wait) { cpu = selected && !is_blocked_kind(wait.kind); },
        [&](std::size_t slot, std::uint64_t count) {
          if (cpu) add_cell(kCpu, slot, count, shares);
        });
  }
}

// What lasted at the end of the last window that ended in a step.
void UnitLengths::add_lasting(const View& view, const CgroupFilter& cgroup) {
  for (const auto& window : view.site_history) {
    const auto step = grid_.step_of(window->end);
    if (!step) continue;
    for (auto& cells : lasting_) cells[*step] = {};
    for (const CgroupWaits& waits : window->sites) {
      const bool is_child = waits.child.ns > waits.time.ns / 2;
      if (waits.lasting == 0 || !actionable(waits.wait_for) || is_child) continue;
      if (!selects(cgroup, *waits.cgroup)) continue;
      Lasting& cell = lasting_[static_cast<std::size_t>(waits.wait_for)][*step];
      cell.waits += waits.lasting;
      cell.oldest.merge(waits.oldest);
    }
  }
}

Json UnitLengths::ended_json(const Octaves& octaves) const {
  Json list = Json::array();
  for (std::size_t octave = 0; octave < octaves.size(); ++octave) {
    for (std::size_t step = 0; step < StepGrid::kCount; ++step) {
      if (read_[step] < StepGrid::kLeastKnown) continue;
      const double per_second = rounded(octaves[octave][step] / read_[step] * kSecond);
      if (per_second > 0) list.push_back({step, octave, per_second});
    }
  }
  return list;
}

Json UnitLengths::json() const {
  Json bounds = Json::array();
  for (std::size_t octave = 0; octave < kOctaves; ++octave) {
    const double bound = slot_bound_seconds(std::min(octave * kPerOctave, OFFCPUD_SLOTS - 1UL));
    bounds.push_back(std::isfinite(bound) ? Json(bound) : Json(nullptr));
  }
  Json ended = Json::object(), lasting = Json::object();
  for (std::size_t what = 0; what < ended_.size(); ++what) {
    Json list = ended_json(ended_[what]);
    if (!list.empty()) ended[name_of_kind(what)] = std::move(list);
  }
  for (std::size_t what = 0; what < lasting_.size(); ++what) {
    Json list = Json::array();
    for (std::size_t step = 0; step < StepGrid::kCount; ++step) {
      const Lasting& cell = lasting_[what][step];
      const double oldest = rounded(static_cast<double>(cell.oldest.ns) / kSecond);
      if (cell.waits > 0) list.push_back({step, cell.waits, oldest});
    }
    if (!list.empty()) lasting[name_of_kind(what)] = std::move(list);
  }
  return {{"bounds_seconds", std::move(bounds)},
          {"ended", std::move(ended)},
          {"lasting", std::move(lasting)}};
}

}  // namespace offcpud
