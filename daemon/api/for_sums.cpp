// SPDX-License-Identifier: Apache-2.0
#include "api/for_sums.h"

#include <algorithm>
#include <cmath>

namespace offcpud {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostSites = 8;  // of one row

// 0: actionable, 1: for children, 2: unknown, 3: idle.
int rank_of(const std::pair<ForSums::Place, ForSums::Site>& site) {
  const WaitFor wait_for = site.first.first;
  if (actionable(wait_for)) return site.second.child.ns > site.second.time.ns / 2 ? 1 : 0;
  return wait_for == WaitFor::Unknown ? 2 : 3;
}

void put_means(Json& json, const char* name, const WaitTime& time, double seconds) {
  json[name] = time.ns / (seconds * 1e9);
  json["error"] = std::sqrt(time.variance_ns2) / (seconds * 1e9);
}

void put_lasting(Json& json, std::uint32_t lasting, const WaitAge& oldest) {
  json["lasting"] = lasting;
  json["oldest_seconds"] =
      oldest.ns > 0 ? Json(static_cast<double>(oldest.ns) * 1e-9) : Json(nullptr);
  json["oldest_estimated"] = oldest.estimated;
}

}  // namespace

void ForSums::add(const SiteWaits& waits, bool now) {
  add({waits.wait_for, waits.site}, {waits.time, waits.child, waits.lasting, waits.oldest}, now);
}

void ForSums::add(const CgroupWaits& waits, bool now) {
  add({waits.wait_for, *waits.site}, {waits.time, waits.child, waits.lasting, waits.oldest}, now);
}

void ForSums::add(const Place& place, const Site& more, bool now) {
  sums_[static_cast<std::size_t>(place.first)] += more.time;
  Site& site = sites_[place];
  site.time += more.time;
  site.child += more.child;
  if (offcpud::actionable(place.first)) children_ += more.child;
  if (!now) return;
  Lasting& lasting = lasting_[static_cast<std::size_t>(place.first)];
  lasting.waits += more.lasting;
  lasting.oldest.merge(more.oldest);
  site.lasting += more.lasting;
  site.oldest.merge(more.oldest);
}

void ForSums::add_unknown(double ns) {
  if (ns > 0) add(Place(WaitFor::Unknown, {}), Site{.time = {.ns = ns}}, false);
}

WaitTime ForSums::actionable() const {
  WaitTime sum;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (offcpud::actionable(static_cast<WaitFor>(i))) sum += sums_[i];
  }
  sum.ns = std::max(0.0, sum.ns - children_.ns);
  sum.variance_ns2 = std::max(0.0, sum.variance_ns2 - children_.variance_ns2);
  return sum;
}

std::vector<std::pair<ForSums::Place, ForSums::Site>> ForSums::sites() const {
  std::vector<std::pair<Place, Site>> sites(sites_.begin(), sites_.end());
  std::ranges::stable_sort(sites, [](const auto& a, const auto& b) {
    const int rank = rank_of(a), other = rank_of(b);
    return rank != other ? rank < other : a.second.time.ns > b.second.time.ns;
  });
  return sites;
}

Json ForSums::json(double seconds, bool with_sites, std::optional<WaitFor> wanted) const {
  if (seconds <= 0) return nullptr;
  Json json = Json::object();
  put_means(json, "actionable", actionable(), seconds);
  json["children"] = children_ns() / (seconds * 1e9);
  json["idle"] = idle_ns() / (seconds * 1e9);
  json["unknown"] = unknown_ns() / (seconds * 1e9);
  Json by_for = Json::object();
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].ns <= 0) continue;
    Json& one = by_for[kWaitForNames[i]];
    put_means(one, "waiting", sums_[i], seconds);
    put_lasting(one, lasting_[i].waits, lasting_[i].oldest);
  }
  json["for"] = std::move(by_for);
  if (!with_sites) return json;
  Json list = Json::array();
  for (const auto& [place, site] : sites()) {
    if (list.size() == kMostSites) break;
    if (wanted && place.first != *wanted) continue;
    Json each = {{"for", name_of(place.first)},
                 {"site", place.second.empty() ? Json(nullptr) : Json(place.second)}};
    put_means(each, "waiting", site.time, seconds);
    put_lasting(each, site.lasting, site.oldest);
    list.push_back(std::move(each));
  }
  json["sites"] = std::move(list);
  return json;
}

}  // namespace offcpud
