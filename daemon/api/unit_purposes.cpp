// SPDX-License-Identifier: Apache-2.0
#include "api/unit_purposes.h"

#include <algorithm>
#include <cmath>

#include "api/recent_windows.h"
#include "attribution/subject.h"
#include "base/clock.h"
#include "pipeline/wait_history.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostPeers = 3;

template <class Lengths>
void add_cells(Lengths& lengths, WaitFor wait_for, std::size_t slot, std::uint64_t count) {
  auto& histogram = lengths[static_cast<std::size_t>(wait_for)];
  if (!histogram) histogram = std::make_unique<IntervalHistogram>();
  histogram->add(slot, count);
}

// "(other)" and the like are nobody whom one could name.
bool is_somebody(const PeerWindow::Row& row) {
  return actionable(row.wait_for) && !row.on.empty() && !is_no_name(row.on);
}

}  // namespace

UnitPurposes::UnitPurposes(const View& view, const UnitQuery& query) {
  length_ = for_each_recent(view.site_history, query.window,
                            [&](const SiteWindow& window, bool now) { add(window, query, now); });
  if (length_.count() > 0) age_ = view.taken - view.site_history.back()->end;
  add_lengths(view, query);
  add_peers(view, query);
}

void UnitPurposes::add(const SiteWindow& window, const UnitQuery& query, bool now) {
  for (const CgroupWaits& waits : window.sites) {
    if (!query.admits(*waits.cgroup)) continue;
    units_[*waits.cgroup].add(waits, now);
    total_.add(waits, now);
  }
  if (query.cgroup.is_all()) total_.add_unknown(window.lost_ns);
}

void UnitPurposes::add_lengths(const View& view, const UnitQuery& query) {
  for_each_recent(view.history, query.window, [&](const WaitStep& step, bool /*now*/) {
    step.for_each_length(
        [&](const SubjectLabels& labels, WaitFor wait_for, std::size_t slot, std::uint64_t count) {
          if (!query.admits(labels.cgroup)) return;
          add_cells(lengths_[labels.cgroup], wait_for, slot, count);
          add_cells(total_lengths_, wait_for, slot, count);
        });
  });
}

void UnitPurposes::add_peers(const View& view, const UnitQuery& query) {
  peers_length_ =
      for_each_recent(view.peer_history, query.window, [&](const PeerWindow& window, bool /*now*/) {
        for (const PeerWindow::Row& row : window.rows) {
          const double ns = row.time.ns - row.child.ns;  // children show what they wait for
          if (!is_somebody(row) || !query.admits(row.cgroup) || ns <= 0) continue;
          waited_on_[row.cgroup][{row.wait_for, row.on}] += ns;
        }
      });
}

double UnitPurposes::seconds() const {
  return in_seconds(length_);
}

const ForSums& UnitPurposes::of(std::string_view cgroup) const {
  static const ForSums nothing;
  const auto found = units_.find(cgroup);
  return found != units_.end() ? found->second : nothing;
}

Json UnitPurposes::json_of(std::string_view cgroup, bool with_sites) const {
  const auto lengths = lengths_.find(cgroup);
  return json(of(cgroup), lengths != lengths_.end() ? &lengths->second : nullptr, with_sites);
}

Json UnitPurposes::total_json(bool with_sites) const {
  return json(total_, &total_lengths_, with_sites);
}

Json UnitPurposes::json(const ForSums& sums, const Lengths* lengths, bool with_sites) const {
  Json json = sums.json(seconds(), with_sites);
  if (json.is_null() || lengths == nullptr) return json;
  for (std::size_t what = 0; what < lengths->size(); ++what) {
    const IntervalHistogram* const ended = lengths->at(what).get();
    const auto found = json["for"].find(kWaitForNames[what]);
    if (ended == nullptr || found == json["for"].end()) continue;
    (*found)["ended"] = ended->count();
    (*found)["p50_seconds"] = slot_bounds_json(ended->quantile_slot(0.5));
    (*found)["p99_seconds"] = slot_bounds_json(ended->quantile_slot(0.99));
  }
  return json;
}

Json UnitPurposes::waited_on_json(std::string_view cgroup) const {
  Json list = Json::array();
  const auto found = waited_on_.find(cgroup);
  if (found == waited_on_.end() || peers_length_.count() <= 0) return list;
  std::vector<std::pair<On, double>> rows(found->second.begin(), found->second.end());
  std::ranges::stable_sort(rows, std::ranges::greater(), &std::pair<On, double>::second);
  for (const auto& [on, ns] : rows) {
    if (list.size() == kMostPeers) break;
    list.push_back({{"for", name_of(on.first)},
                    {"on", on.second},
                    {"waiting", ns * 1e-9 / in_seconds(peers_length_)}});
  }
  return list;
}

Json UnitPurposes::window_json() const {
  if (!known()) return nullptr;
  return {{"seconds", seconds()}, {"age_seconds", in_seconds(age_)}};
}

Json slot_bounds_json(std::size_t slot) {
  const double upper = slot_bound_seconds(slot);
  return Json::array({slot == 0 ? 0 : slot_bound_seconds(slot - 1),
                      std::isfinite(upper) ? Json(upper) : Json(nullptr)});
}

}  // namespace offcpud
