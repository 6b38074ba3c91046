// SPDX-License-Identifier: Apache-2.0
#include "pipeline/site_history.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace offcpud {
namespace {

SiteWindow by_cgroup(const WaitWindow& window) {
  std::map<std::tuple<std::string, WaitFor, std::string>, SiteWaits> sums;
  for (const SiteWaits& waits : window.sites) {
    const bool named = actionable(waits.wait_for) || waits.wait_for == WaitFor::Unknown;
    const std::string site = named ? waits.site : std::string();
    SiteWaits& sum = sums[{waits.cgroup, waits.wait_for, site}];
    sum.time += waits.time;
    sum.child += waits.child;
    sum.lasting += waits.lasting;
    sum.oldest_ns = std::max(sum.oldest_ns, waits.oldest_ns);
  }
  SiteWindow summed{.begin = window.begin_at,
                    .end = window.end_at,
                    .sites = {},
                    .lost_ns = static_cast<double>(window.lost_within_ns)};
  summed.sites.reserve(sums.size());
  for (auto& [key, sum] : sums) {
    std::tie(sum.cgroup, sum.wait_for, sum.site) = key;
    summed.sites.push_back(std::move(sum));
  }
  return summed;
}

std::size_t bytes_of(const SiteWindow& window) {
  std::size_t bytes = sizeof(SiteWindow);
  for (const SiteWaits& waits : window.sites) {
    bytes += sizeof(SiteWaits) + waits.cgroup.size() + waits.site.size();
  }
  return bytes;
}

}  // namespace

void SiteHistory::add(std::shared_ptr<const WaitWindow> window) {
  if (window->end_at <= window->begin_at) return;
  auto summed = std::make_shared<const SiteWindow>(by_cgroup(*window));
  const std::size_t bytes = bytes_of(*summed);
  bytes_ += bytes;
  kept_.push_back({std::move(summed), bytes});
  std::size_t old = 0;
  while (old + 1 < kept_.size() &&
         (bytes_ > kMostBytes || window->end_at - kept_[old].window->begin > kAge)) {
    bytes_ -= kept_[old].bytes;
    ++old;
  }
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(old));
  last_ = std::move(window);
}

void SiteHistory::clear() {
  *this = {};
}

std::shared_ptr<const WaitWindow> SiteHistory::last(MonotonicTime now) const {
  return last_ && now - last_->end_at <= kFresh ? last_ : nullptr;
}

std::vector<std::shared_ptr<const SiteWindow>> SiteHistory::windows(MonotonicTime now) const {
  std::vector<std::shared_ptr<const SiteWindow>> windows;
  if (!last(now)) return windows;
  windows.reserve(kept_.size());
  for (const Kept& kept : kept_) windows.push_back(kept.window);
  return windows;
}

}  // namespace offcpud
