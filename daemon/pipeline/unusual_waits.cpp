// SPDX-License-Identifier: Apache-2.0
#include "pipeline/unusual_waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace offcpud {
namespace {

// The root, and the series that sum cgroups without a row, belong to many unrelated programs.
bool is_one_unit(const std::string& cgroup) {
  return cgroup != "/" && cgroup != kOtherCgroup && cgroup != kUnknownCgroup;
}

bool is_unknown(const Stall& stall) {
  return !stall.told && !stall.estimated && stall.wait && stall.wait->wait_for == WaitFor::Unknown;
}

StallId id_of(const Stall& stall) {
  return {.tid = stall.tid, .since_ns = stall.since_ns};
}

// Keeps the oldest of each cgroup, then the second of each, and so on; does not change their order.
void keep_shares(std::vector<UnusualWait>& found) {
  if (found.size() <= UnusualWaits::kMost) return;
  std::map<std::string_view, std::size_t> of_cgroup;
  std::vector<std::pair<std::size_t, std::size_t>> ranks;  // among those of its cgroup; in `found`
  for (std::size_t i = 0; i < found.size(); ++i) {
    ranks.emplace_back(of_cgroup[found[i].stall->labels->cgroup]++, i);
  }
  std::ranges::sort(ranks);
  ranks.resize(UnusualWaits::kMost);
  std::ranges::sort(ranks, {}, &std::pair<std::size_t, std::size_t>::second);
  std::vector<UnusualWait> kept;
  kept.reserve(ranks.size());
  for (const auto& [rank, i] : ranks) kept.push_back(std::move(found[i]));
  found = std::move(kept);
}

}  // namespace

void UnusualWaits::take_examined(const WaitWindow& window) {
  usual_.clear();
  for (const ExaminedBlock& block : window.blocks) {
    if (block.usual) usual_.emplace(StallId{block.tid, block.since_ns}, block.usual);
  }
}

std::vector<UnusualWait> UnusualWaits::find(std::span<const SubjectSeries> subjects,
                                            const StallList& stalls, MonotonicTime now) {
  activity_.update(subjects, now);
  auto before = std::exchange(busy_before_, {});
  std::vector<UnusualWait> found;
  for (const auto& stall : stalls.untold) {
    if (!is_unknown(*stall) || !is_one_unit(stall->labels->cgroup)) continue;
    if (const auto known = before.find(id_of(*stall)); known != before.end()) {
      busy_before_.insert(*known);
    } else if (const auto busy = activity_.of(stall->labels->cgroup)) {
      busy_before_.emplace(id_of(*stall), busy->usual);
    }
    if (factor_ == 0) continue;
    auto usual = usual_of(*stall);
    if (usual && has_work(*stall, stalls)) found.push_back({stall, std::move(usual)});
  }
  keep_shares(found);
  return found;
}

// Null: the block is not long for its place.
std::shared_ptr<const UsualWaits> UnusualWaits::usual_of(const Stall& stall) const {
  const auto known = usual_.find(id_of(stall));
  if (known == usual_.end()) return nullptr;
  return known->second->silent_ns / factor_ >= known->second->p99_ns ? known->second : nullptr;
}

bool UnusualWaits::has_work(const Stall& stall, const StallList& stalls) const {
  const auto before = busy_before_.find(id_of(stall));
  if (before == busy_before_.end()) return false;
  const auto busy = activity_.of(stall.labels->cgroup);
  if (busy && busy->now >= std::max(kLeastBusy, kStillBusy * before->second)) return true;
  constexpr std::uint64_t kTogetherNs = std::chrono::nanoseconds(kTogether).count();
  return std::ranges::any_of(stalls.stalls, [&](const auto& told) {
    const auto [first, last] = std::minmax(told->since_ns, stall.since_ns);
    return last - first <= kTogetherNs && !told->ended &&
           told->labels->cgroup == stall.labels->cgroup;
  });
}

}  // namespace offcpud
