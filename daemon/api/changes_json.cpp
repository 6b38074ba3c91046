// SPDX-License-Identifier: Apache-2.0
#include "api/changes_json.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

Json range_json(const MeasuredRange& range, const ChangesScope::Range& asked) {
  return {{"begin", rfc3339(range.begin)},
          {"end", rfc3339(range.end)},
          {"asked_begin", rfc3339(asked.from)},
          {"asked_end", rfc3339(asked.to)},
          {"covered_seconds", in_seconds(range.covered)},
          {"cpu_covered_seconds", in_seconds(range.cpu_covered)},
          {"snapshots", range.snapshots},
          {"unreadable", range.unreadable},
          {"captured", range.captured},
          {"lost_seconds", range.lost_ns * 1e-9}};
}

Json row_json(const ChangedWait& row, const Changes& changes) {
  const std::string evidence = evidence_of(row, changes);
  Json json = {{"unit", row.place.unit},
               {"cgroup", row.cgroup},
               {"for", kChangeKindNames[row.place.kind]},
               {"site", row.place.site.empty() ? Json(nullptr) : Json(row.place.site)},
               {"before", row.before},
               {"before_error", row.before_error},
               {"after", row.after},
               {"after_error", row.after_error},
               {"change", row.change()},
               {"error", row.error()},
               {"sigma", nullptr},
               {"significant", row.significant()},
               {"new", row.before <= 0},
               {"ended", row.after <= 0},
               {"most_before", row.most_before},
               {"functions", row.functions},
               {"evidence", evidence.empty() ? Json(nullptr) : Json(evidence)}};
  if (const auto sigma = row.sigma()) json["sigma"] = *sigma;
  return json;
}

Json left_out_json(const MeasuredRange& before, const MeasuredRange& after) {
  const auto rates = [&](double MeasuredRange::*ns) -> Json {
    const auto rate = [&](const MeasuredRange& range) {
      const auto length = static_cast<double>(range.covered.count());
      return length > 0 ? range.*ns / length : 0;
    };
    return {{"before", rate(before)}, {"after", rate(after)}};
  };
  return {{"work", rates(&MeasuredRange::work_ns)},
          {"timer", rates(&MeasuredRange::timer_ns)},
          {"children", rates(&MeasuredRange::child_ns)}};
}

}  // namespace

std::string changes_json(const Changes& changes) {
  Json json = range_json(changes.after, changes.asked);
  json["base"] = range_json(changes.before, changes.asked_base);
  json["notes"] = changes.notes;
  json["matching"] = changes.matching;
  json["significant"] = changes.significant;
  Json rows = Json::array();
  for (const ChangedWait& row : changes.rows) rows.push_back(row_json(row, changes));
  json["rows"] = std::move(rows);
  Json running = Json::array();
  for (const ChangedRunning& row : changes.running) {
    running.push_back({{"unit", row.unit}, {"before", row.before}, {"after", row.after}});
  }
  json["running"] = std::move(running);
  json["left_out"] = left_out_json(changes.before, changes.after);
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
