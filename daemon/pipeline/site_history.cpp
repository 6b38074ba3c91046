// SPDX-License-Identifier: Apache-2.0
#include "pipeline/site_history.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "attribution/subject.h"

namespace offcpud {
namespace {

using Key = std::tuple<std::string, WaitFor, std::string>;  // cgroup, what for, site
using Sums = std::map<Key, CgroupWaits>;

constexpr std::size_t kBytesOfText = 128;  // about, besides the text

void add(CgroupWaits& sum, const auto& waits) {
  sum.time += waits.time;
  sum.child += waits.child;
  sum.lasting += waits.lasting;
  sum.on_sockets += waits.on_sockets;
  sum.oldest.merge(waits.oldest);
}

Sums sums_by_site(const WaitWindow& window) {
  Sums sums;
  for (const SiteWaits& waits : window.sites) {
    const bool named = actionable(waits.wait_for) || waits.wait_for == WaitFor::Unknown;
    add(sums[{waits.cgroup, waits.wait_for, named ? waits.site : std::string()}], waits);
  }
  return sums;
}

// Leaves at most `most` rows, besides those of "(other)": one for each value of `for`.
void fold(Sums& sums, std::size_t most) {
  if (sums.size() <= most) return;
  std::vector<Sums::iterator> rows;
  rows.reserve(sums.size());
  for (auto row = sums.begin(); row != sums.end(); ++row) rows.push_back(row);
  const auto rank = [](const Sums::iterator& row) {
    return std::pair(actionable(std::get<WaitFor>(row->first)), row->second.time.ns);
  };
  const auto kept = rows.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(rows, kept, std::ranges::greater(), rank);
  for (auto row = kept; row != rows.end(); ++row) {
    const auto folded = sums.extract(*row);
    const WaitFor wait_for = std::get<WaitFor>(folded.key());
    add(sums[{std::string(kOtherCgroup), wait_for, std::string()}], folded.mapped());
  }
}

std::size_t bytes_of(const SiteWindow& window) {
  return sizeof(SiteWindow) + window.sites.size() * sizeof(CgroupWaits);
}

}  // namespace

SiteWindow SiteHistory::by_cgroup(const WaitWindow& window) {
  Sums sums = sums_by_site(window);
  fold(sums, kMostRows);
  SiteWindow summed{.begin = window.begin_at,
                    .end = window.end_at,
                    .sites = {},
                    .lost_ns = static_cast<double>(window.lost_within_ns)};
  summed.sites.reserve(sums.size());
  for (auto& [key, sum] : sums) {
    const auto& [cgroup, wait_for, site] = key;
    sum.cgroup = shared(cgroup);
    sum.site = shared(site);
    sum.wait_for = wait_for;
    summed.sites.push_back(std::move(sum));
  }
  return summed;
}

SiteHistory::Text SiteHistory::shared(const std::string& text) {
  auto known = texts_.find(text);
  if (known == texts_.end()) {
    auto made = std::make_shared<const std::string>(text);
    const std::string_view key = *made;
    known = texts_.emplace(key, Shared{.text = std::move(made)}).first;
    bytes_ += kBytesOfText + text.size();
  }
  ++known->second.uses;
  return known->second.text;
}

void SiteHistory::release(const Text& text) {
  const auto known = texts_.find(*text);
  if (--known->second.uses > 0) return;
  bytes_ -= kBytesOfText + text->size();
  texts_.erase(known);
}

void SiteHistory::forget(const Kept& oldest) {
  for (const CgroupWaits& waits : oldest.window->sites) {
    release(waits.cgroup);
    release(waits.site);
  }
  bytes_ -= oldest.bytes;
}

void SiteHistory::add(std::shared_ptr<const WaitWindow> window) {
  if (window->end_at <= window->begin_at) return;
  auto summed = std::make_shared<const SiteWindow>(by_cgroup(*window));
  const std::size_t bytes = bytes_of(*summed);
  bytes_ += bytes;
  kept_.push_back({std::move(summed), bytes});
  std::size_t old = 0;
  while (old + 1 < kept_.size() &&
         (bytes_ > kMostBytes || window->end_at - kept_[old].window->begin > kAge)) {
    forget(kept_[old++]);
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
