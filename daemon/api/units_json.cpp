// SPDX-License-Identifier: Apache-2.0
#include "api/units_json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "api/labels_json.h"
#include "api/unit_waits.h"
#include "base/hist_kind.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr struct {
  const char* name;
  double share;
} kQuantiles[] = {{"p50_seconds", 0.5}, {"p90_seconds", 0.9}, {"p99_seconds", 0.99}};

double in_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

double per_second(std::uint64_t ns, double seconds) {
  return seconds > 0 ? static_cast<double>(ns) * 1e-9 / seconds : 0;
}

// The bounds of a slot: greater than the first, up to the second; null: no bound.
Json bounds_json(std::size_t slot) {
  const double upper = slot_bound_seconds(slot);
  return Json::array({slot == 0 ? 0 : slot_bound_seconds(slot - 1),
                      std::isfinite(upper) ? Json(upper) : Json(nullptr)});
}

Json wait_json(const KindWaits& waits, double seconds) {
  const std::uint64_t ended = waits.ended ? waits.ended->count() : 0;
  Json json = {{"waiting", per_second(waits.waited_ns, seconds)}, {"ended", ended}};
  for (const auto& [name, share] : kQuantiles) {
    json[name] = ended > 0 ? bounds_json(waits.ended->quantile_slot(share)) : Json(nullptr);
  }
  return json;
}

// `now`: includes waits in progress.
Json waits_json(const UnitWaits& unit, double seconds, bool now) {
  Json json = {{"blocked", Json::object()}, {"runqueue", Json::object()}};
  for (std::size_t kind = 0; kind < unit.kinds.size(); ++kind) {
    const KindWaits& waits = unit.kinds[kind];
    if (waits.waited_ns == 0 && !waits.ended && (!now || waits.threads == 0)) continue;
    Json wait = wait_json(waits, seconds);
    if (now) {
      wait["threads"] = waits.threads;
      if (is_blocked_kind(kind)) wait["oldest_seconds"] = per_second(waits.oldest_ns, 1);
      wait["actionable"] = unit.counts(kind);
    }
    json[is_blocked_kind(kind) ? "blocked" : "runqueue"][std::string(kHistKindNames[kind])] =
        std::move(wait);
  }
  return json;
}

Json unit_json(const UnitWaits& unit, double seconds) {
  Json json = Json::object();
  if (unit.labels) append_labels(json, *unit.labels);
  json.update({{"running", per_second(unit.running_ns, seconds)},
               {"actionable", per_second(unit.actionable_ns(), seconds)},
               {"idle", per_second(unit.idle_ns(), seconds)}});
  json.update(waits_json(unit, seconds, true));
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
    json.update(waits_json(total, seconds, false));
    list.push_back(std::move(json));
  }
  return list;
}

// Units by actionable wait, longest first; equal ones by name.
std::vector<const UnitWaits*> by_wait(const UnitSums& sums) {
  std::vector<const UnitWaits*> units;
  for (const auto& [cgroup, unit] : sums.units()) units.push_back(&unit);
  std::stable_sort(units.begin(), units.end(), [](const UnitWaits* a, const UnitWaits* b) {
    return a->actionable_ns() > b->actionable_ns();
  });
  return units;
}

}  // namespace

std::string units_json(const View& view, const UnitQuery& query) {
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
  Json json = {{"taken", rfc3339(view.taken_wall)},
               {"window_seconds", seconds},
               {"kept_seconds", in_seconds(kept)},
               {"total", unit_json(sums.total(), seconds)},
               {"matching", sums.units().size()}};
  Json list = Json::array();
  for (const UnitWaits* unit : by_wait(sums)) {
    if (query.limit && list.size() >= *query.limit) break;
    list.push_back(unit_json(*unit, seconds));
  }
  json["units"] = std::move(list);
  if (query.history) json["history"] = history_json(view, query);
  // Not indented: a busy host has hundreds of units.
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
