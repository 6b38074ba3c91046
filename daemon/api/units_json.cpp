// SPDX-License-Identifier: Apache-2.0
#include "api/units_json.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "api/labels_json.h"
#include "api/step_grid.h"
#include "api/unit_lengths.h"
#include "api/unit_purposes.h"
#include "api/unit_steps.h"
#include "api/unit_waits.h"
#include "api/usual_lengths.h"
#include "base/clock.h"
#include "base/hist_kind.h"
#include "base/utc.h"
#include "pipeline/taker.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr struct {
  const char* name;
  double share;
} kQuantiles[] = {{"p50_seconds", 0.5}, {"p90_seconds", 0.9}, {"p99_seconds", 0.99}};

constexpr std::size_t kMostTakers = 3;

double per_second(std::uint64_t ns, double seconds) {
  return seconds > 0 ? static_cast<double>(ns) * 1e-9 / seconds : 0;
}

Json wait_json(const KindWaits& waits, double seconds) {
  const std::uint64_t ended = waits.ended ? waits.ended->count() : 0;
  Json json = {{"waiting", per_second(waits.waited_ns, seconds)}, {"ended", ended}};
  for (const auto& [name, share] : kQuantiles) {
    json[name] = ended > 0 ? slot_bounds_json(waits.ended->quantile_slot(share)) : Json(nullptr);
  }
  return json;
}

// `now`: includes waits in progress.
Json unit_waits_json(const UnitWaits& unit, double seconds, bool now) {
  Json json = {{"blocked", Json::object()}, {"runqueue", Json::object()}};
  for (std::size_t kind = 0; kind < unit.kinds.size(); ++kind) {
    const KindWaits& waits = unit.kinds[kind];
    if (waits.waited_ns == 0 && !waits.ended && (!now || waits.threads == 0)) continue;
    Json wait = wait_json(waits, seconds);
    if (now) {
      wait["threads"] = waits.threads;
      if (is_blocked_kind(kind)) {
        wait["oldest_seconds"] = per_second(waits.oldest.ns, 1);
        wait["oldest_estimated"] = waits.oldest.estimated;
      }
      wait["actionable"] = unit.counts(kind);
    }
    json[is_blocked_kind(kind) ? "blocked" : "runqueue"][std::string(kHistKindNames[kind])] =
        std::move(wait);
  }
  return json;
}

// Who kept it off the CPU: the three that had it longest.
Json kept_off_json(const KeptOffWindow& window) {
  Json list = Json::array();
  const double seconds = in_seconds(window.length);
  for (const Taker& taker : window.takers) {
    if (list.size() == kMostTakers) break;
    Json json = {{"by_cgroup", taker.by->cgroup}};
    if (!taker.by->unit.empty()) json["by_unit"] = taker.by->unit;
    json["waiting"] = per_second(taker.ns, seconds);
    list.push_back(std::move(json));
  }
  return list;
}

Json unit_json(const UnitWaits& unit, double seconds) {
  Json json = Json::object();
  if (unit.labels) append_labels(json, *unit.labels);
  json.update({{"running", per_second(unit.running_ns, seconds)},
               {"actionable", per_second(unit.actionable_ns(), seconds)},
               {"idle", per_second(unit.idle_ns(), seconds)}});
  json.update(unit_waits_json(unit, seconds, true));
  return json;
}

Json history_json(const View& view, const UnitQuery& query) {
  Json list = Json::array();
  const UnitSums sums(view);
  for (const auto& step : view.history) {
    const double seconds = in_seconds(step->length());
    const UnitWaits total =
        sums.total_of(*step, [&](const std::string& path) { return query.admits(path); });
    Json json = {{"end", rfc3339(step->end_wall)},
                 {"seconds", seconds},
                 {"running", per_second(total.running_ns, seconds)}};
    json.update(unit_waits_json(total, seconds, false));
    list.push_back(std::move(json));
  }
  return list;
}

// Threads that wait, on average, for what somebody may want to act on, and for a CPU. Where nothing
// was examined, by reason.
double waiting_of(const UnitWaits& unit, const UnitPurposes& purposes, double seconds) {
  if (!purposes.known()) return per_second(unit.actionable_ns(), seconds);
  return purposes.of(unit.labels->cgroup).actionable().ns * 1e-9 / purposes.seconds() +
         per_second(unit.runqueue_ns(), seconds);
}

// The one that waits most first; equal ones by name.
std::vector<const UnitWaits*> by_wait(const UnitSums& sums, const UnitPurposes& purposes,
                                      const std::optional<WaitFor>& wait_for, double seconds) {
  std::vector<std::pair<double, const UnitWaits*>> waits;
  for (const auto& [cgroup, unit] : sums.units()) {
    const double waiting =
        wait_for ? purposes.of(cgroup).of(*wait_for).ns : waiting_of(unit, purposes, seconds);
    if (!wait_for || waiting > 0) waits.emplace_back(waiting, &unit);
  }
  std::ranges::stable_sort(waits, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const UnitWaits*> units;
  units.reserve(waits.size());
  for (const auto& [waiting, unit] : waits) units.push_back(unit);
  return units;
}

// Of the present alone: what was usual by an earlier time is not kept.
std::optional<UsualLengths> usual_of(const View& view, const UnitQuery& query,
                                     const std::vector<const UnitWaits*>& units) {
  if (!query.usual || query.to) return std::nullopt;
  std::set<std::string_view> cgroups;
  for (const UnitWaits* unit : units) cgroups.insert(unit->labels->cgroup);
  return std::make_optional<UsualLengths>(view, cgroups);
}

// Puts what is usual beside the percentiles, where it is known.
void append_usual(Json& one, const std::string& cgroup, const UsualLengths& usual) {
  const auto put = [](Json& wait, Json value) {
    if (!value.is_null()) wait["usual"] = std::move(value);
  };
  for (auto& [kind, wait] : one["runqueue"].items()) {
    const auto found = std::ranges::find(kHistKindNames, kind);
    put(wait, usual.of_run_queue(
                  cgroup, static_cast<std::size_t>(found - std::ranges::begin(kHistKindNames))));
  }
  if (one["waits"].is_null()) return;
  Json& by_for = one["waits"]["for"];
  for (std::size_t what = 0; what < kWaitForNames.size(); ++what) {
    // Of the others the history has no lengths, so the last minutes cannot be left out.
    if (!actionable(static_cast<WaitFor>(what))) continue;
    const auto found = by_for.find(kWaitForNames[what]);
    if (found != by_for.end()) put(*found, usual.of(cgroup, static_cast<WaitFor>(what)));
  }
}

}  // namespace

std::string units_json(const View& view, const UnitQuery& query, bool with_sites) {
  const auto admits = [&](const std::string& path) { return query.admits(path); };
  UnitSums sums(view);
  std::chrono::nanoseconds window{0}, kept{0};
  for (auto step = view.history.rbegin(); step != view.history.rend(); ++step) {
    if (window < query.window) {
      sums.add(**step, admits);
      window += (*step)->length();
    }
    kept += (*step)->length();
  }
  sums.add_in_progress(admits);
  const double seconds = in_seconds(window);
  const UnitPurposes purposes(view, query);
  auto units = by_wait(sums, purposes, query.wait_for, seconds);
  const std::size_t matching = units.size();
  if (query.limit && *query.limit < matching) units.resize(*query.limit);
  const StepGrid grid(view);
  const std::optional<UnitSteps> steps =
      query.steps ? std::make_optional<UnitSteps>(view, grid, query) : std::nullopt;
  const auto usual = usual_of(view, query, units);
  Json total = unit_json(sums.total(), seconds);
  total["waits"] = purposes.total_json(with_sites);
  if (steps) total["steps"] = steps->total_json();
  Json json = {{"taken", rfc3339(view.taken_wall)},
               {"window_seconds", seconds},
               {"waits_window", purposes.window_json()},
               {"kept_seconds", in_seconds(kept)},
               {"total", std::move(total)},
               {"matching", matching}};
  if (steps || query.lengths) json["steps"] = grid.json();
  if (query.lengths) json["lengths"] = UnitLengths(view, grid, *query.lengths).json();
  Json list = Json::array();
  for (const UnitWaits* unit : units) {
    const std::string& cgroup = unit->labels->cgroup;
    Json one = unit_json(*unit, seconds);
    one["waits"] = purposes.json_of(cgroup, with_sites);
    // The processes at the other end are a detail, and so is where they belong.
    if (with_sites) one["waited_on"] = purposes.waited_on_json(cgroup);
    if (steps) one["steps"] = steps->json_of(cgroup);
    if (usual) append_usual(one, cgroup, *usual);
    const KeptOffWindow kept_off = kept_off_within(view, cgroup, query.window);
    if (!kept_off.takers.empty()) one["kept_off"] = kept_off_json(kept_off);
    list.push_back(std::move(one));
  }
  json["units"] = std::move(list);
  if (query.history) json["history"] = history_json(view, query);
  // Not indented: a busy host has hundreds of units.
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
