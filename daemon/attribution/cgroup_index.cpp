// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_index.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "attribution/cgroup_filter.h"

namespace offcpud {
namespace {

bool is_path_component(std::string_view name) {
  constexpr std::string_view kSeparators("/\0", 2);
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(kSeparators) == std::string_view::npos;
}

bool may_be_unseen(const CgroupWalk& walk, std::string_view path) {
  return std::any_of(walk.unread.begin(), walk.unread.end(),
                     [&](const std::string& top) { return is_at_or_below(path, top); });
}

}  // namespace

void CgroupIndex::apply(const CgroupWalk& walk, MonotonicTime now) {
  is_uncertain_ = false;
  std::unordered_set<std::uint64_t> seen;
  for (const FoundCgroup& cgroup : walk.found) {
    seen.insert(cgroup.id);
    if (!entries_.contains(cgroup.id)) insert_live(cgroup.id, cgroup.parent_id, cgroup.path, now);
  }
  for (auto& item : entries_) {
    auto& [id, entry] = item;
    if (entry.removed) continue;
    if (seen.contains(id) || may_be_unseen(walk, entry.path)) {
      entry.missed.reset();
    } else if (entry.missed && *entry.missed < now) {
      mark_removed(item, now);
    } else {
      entry.missed = now;
      is_uncertain_ = true;
    }
  }
}

void CgroupIndex::apply(const CgroupChange& change, MonotonicTime now) {
  if (change.kind == CgroupChange::Kind::Created) return create(change, now);
  const auto item = entries_.find(change.id);
  if (item == entries_.end()) return;
  mark_removed(*item, now);
}

void CgroupIndex::create(const CgroupChange& change, MonotonicTime now) {
  if (entries_.contains(change.id)) return;  // a walk found it first
  const auto parent = entries_.find(change.parent_id);
  if (parent == entries_.end() || !is_path_component(change.name)) {
    ++unplaced_events_;
    return;
  }
  std::string path = child_path(parent->second.path, change.name, change.id);
  if (cgroup_depth(path) > kMaxCgroupDepth) {
    ++unplaced_events_;
    return;
  }

  const auto live = live_.find(path);
  if (live != live_.end() && live->second > change.id) {
    // A walk has already found the successor: this cgroup is gone, and its Removed event will
    // follow.
    entries_.emplace(change.id, CgroupEntry{std::move(path), change.parent_id, now});
    return;
  }
  insert_live(change.id, change.parent_id, std::move(path), now);
}

// Marks as removed another cgroup that had the path: two live ones never share one.
void CgroupIndex::insert_live(std::uint64_t id, std::uint64_t parent_id, std::string path,
                              MonotonicTime now) {
  const auto [live, is_new_path] = live_.try_emplace(path, id);
  if (!is_new_path) {
    const std::uint64_t predecessor = std::exchange(live->second, id);
    mark_removed(*entries_.find(predecessor), now);
  }
  entries_.emplace(id, CgroupEntry{std::move(path), parent_id, {}});
}

// Keeps the first time, which is the closest to the removal.
void CgroupIndex::mark_removed(Entries::value_type& item, MonotonicTime now) {
  auto& [id, entry] = item;
  if (entry.removed) return;
  entry.removed = now;
  const auto live = live_.find(entry.path);
  if (live != live_.end() && live->second == id) live_.erase(live);
}

const CgroupEntry* CgroupIndex::find(std::uint64_t id) const {
  const auto item = entries_.find(id);
  return item == entries_.end() ? nullptr : &item->second;
}

std::string CgroupIndex::nearest_live_ancestor(std::string_view path) const {
  for (;;) {
    const std::size_t slash = path.rfind('/');
    if (slash == 0 || slash == std::string_view::npos) return "/";
    path = path.substr(0, slash);
    if (live_.contains(path)) return std::string(path);
  }
}

void CgroupIndex::forget_removed(MonotonicTime before) {
  std::erase_if(entries_, [&](const auto& item) {
    const CgroupEntry& entry = item.second;
    return entry.removed && *entry.removed <= before;
  });
}

}  // namespace offcpud
