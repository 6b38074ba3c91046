// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_directory.h"

#include <algorithm>
#include <utility>

namespace offcpud {
namespace {

constexpr std::chrono::seconds kRemovedQuiet{10};
constexpr std::chrono::seconds kUnnamedQuiet{30};

// How long paths of removed cgroups are kept: their last counts in the kernel have been read by
// then.
constexpr std::chrono::seconds kNameKept{60};

constexpr std::chrono::seconds kLongestMiss{300};
constexpr std::chrono::seconds kWalkInterval{10};

std::string removed_below(const std::string& ancestor) {
  return (ancestor == "/" ? "" : ancestor) + "/" + std::string(kRemovedCgroup);
}

// The cgroup whose time a series holds: "/a" for "/a/(removed)", "/" for "/(removed)".
std::string owner_of(std::string_view path) {
  if (is_removed_series(path)) path.remove_suffix(kRemovedCgroup.size() + 1);
  return path.empty() ? "/" : std::string(path);
}

}  // namespace

std::optional<std::string> CgroupDirectory::find(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const CgroupEntry* entry = index_.find(id);
  return entry ? std::optional(entry->path) : std::nullopt;
}

bool CgroupDirectory::is_live(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  return index_.is_live(path);
}

std::string CgroupDirectory::path_of(std::uint64_t id) const {
  if (id == 0) return std::string(kOtherCgroup);
  auto path = find(id);
  return path ? *std::move(path) : std::string(kUnknownCgroup);
}

Status CgroupDirectory::rescan(MonotonicTime now) {
  TRY(const CgroupWalk walk, walk_cgroups(root_));
  const std::lock_guard lock(mutex_);
  index_.apply(walk, now);
  return {};
}

void CgroupDirectory::apply(const CgroupChange& change, MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  index_.apply(change, now);
}

void CgroupDirectory::note_misses(const SeenCgroups& seen, MonotonicTime now) {
  const auto before = std::exchange(misses_, {});
  const auto find_miss = [&](std::uint64_t id) -> Miss* {
    if (id == 0 || index_.find(id)) return nullptr;
    const auto known = before.find(id);
    return &misses_.try_emplace(id, known == before.end() ? Miss{} : known->second).first->second;
  };
  for (const CgroupActivity& one : seen.accounted) {
    Miss* miss = find_miss(one.id);
    if (!miss || one.activity == miss->activity) continue;
    miss->activity = one.activity;
    miss->changed = now;
  }
  for (const std::uint64_t id : seen.of_threads) find_miss(id);
}

Status CgroupDirectory::name(const SeenCgroups& seen, MonotonicTime now) {
  note_misses(seen, now);
  missed_changes_ = missed_changes_ || seen.missed_changes;
  bool walk = (missed_changes_ || index_.is_uncertain()) && now - walked_ >= kWalkInterval;
  for (auto& [id, miss] : misses_) {
    if (now < miss.retry) continue;
    miss.retry = now + miss.wait;
    miss.wait = std::min(2 * miss.wait, kLongestMiss);
    walk = true;
  }
  if (!walk) return {};
  TRY_VOID(rescan(now));
  walked_ = now;
  missed_changes_ = false;
  return {};
}

std::vector<std::uint64_t> CgroupDirectory::quiet(std::span<const CgroupActivity> accounted,
                                                  MonotonicTime now) const {
  std::vector<std::uint64_t> quiet;
  for (const CgroupActivity& one : accounted) {
    if (one.id == 0) continue;
    if (const CgroupEntry* entry = index_.find(one.id)) {
      if (entry->removed && now - *entry->removed >= kRemovedQuiet) quiet.push_back(one.id);
    } else if (const auto miss = misses_.find(one.id); miss != misses_.end()) {
      if (now - miss->second.changed >= kUnnamedQuiet) quiet.push_back(one.id);
    }
  }
  return quiet;
}

std::optional<std::string> CgroupDirectory::successor_of(std::string_view path) const {
  const std::string owner = index_.is_live(path) ? std::string(path) : owner_of(path);
  if (index_.is_live(owner)) return std::nullopt;
  return removed_below(index_.nearest_live_ancestor(owner));
}

void CgroupDirectory::forget_removed(MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  index_.forget_removed(now - kNameKept);
}

}  // namespace offcpud
