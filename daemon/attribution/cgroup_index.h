// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attribution/cgroup_walk.h"
#include "base/clock.h"

namespace offcpud {

// A cgroup was created or removed: offcpud_cgroup_event, decoded.
struct CgroupChange {
  enum class Kind { Created, Removed };
  Kind kind = Kind::Created;
  std::uint64_t id = 0;
  std::uint64_t parent_id = 0;
  std::string name;  // Created only
};

struct CgroupEntry {
  std::string path;                      // "/" or "/a/b", as in /proc/PID/cgroup after "0::"
  std::uint64_t parent_id = 0;           // 0 for the root
  std::optional<MonotonicTime> removed;  // when its rmdir was seen
  std::optional<MonotonicTime> missed;   // when a walk first did not find it
};

// Maps the kernfs id of a v2 cgroup (64 bits, the inode number of its directory; kernel
// fs/kernfs/dir.c) to its path. A walk fills the index at the start. The kernel's cgroup events
// then keep it, so that even a cgroup that lived for milliseconds has its name; further walks
// repair what events missed. A walk and an event may overtake each other. Two facts tell which is
// newer: an id is never reused, and of two ids with one path the larger is newer, because kernfs
// assigns ascending ids. Paths never change, as v2 has no rename. Not thread-safe.
class CgroupIndex {
 public:
  // Adds the cgroups that the walk found. Marks as removed at `now` those that two walks in a row
  // did not find, except below directories that could not be read. One walk is not enough: the
  // kernel reports a new cgroup a moment before its directory is visible (cgroup_mkdir,
  // kernfs_activate).
  void apply(const CgroupWalk& walk, MonotonicTime now);

  // Whether another walk is needed to decide if a cgroup was removed.
  [[nodiscard]] bool is_uncertain() const { return is_uncertain_; }

  // Applies one event. Ignores the removal of an unknown cgroup. Drops and counts a creation whose
  // parent is unknown (it lies outside of the visible hierarchy, or a walk will find it), whose
  // name is not one path component, or that is nested too deep.
  void apply(const CgroupChange& change, MonotonicTime now);

  // Null when unknown. The pointer is valid until the next non-const call.
  [[nodiscard]] const CgroupEntry* find(std::uint64_t id) const;

  // Whether a cgroup of this path exists now.
  [[nodiscard]] bool is_live(std::string_view path) const { return live_.contains(path); }

  // The nearest ancestor of `path` that is a live cgroup, never `path` itself; "/" if no other
  // lives.
  [[nodiscard]] std::string nearest_live_ancestor(std::string_view path) const;

  // Drops entries of cgroups removed at or before `before`.
  void forget_removed(MonotonicTime before);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t unplaced_events() const { return unplaced_events_; }

 private:
  struct PathHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view path) const {
      return std::hash<std::string_view>{}(path);
    }
  };
  using Entries = std::unordered_map<std::uint64_t, CgroupEntry>;

  void create(const CgroupChange& change, MonotonicTime now);
  void insert_live(std::uint64_t id, std::uint64_t parent_id, std::string path, MonotonicTime now);
  void mark_removed(Entries::value_type& item, MonotonicTime now);

  Entries entries_;
  // path -> id of the live cgroup
  std::unordered_map<std::string, std::uint64_t, PathHash, std::equal_to<>> live_;
  std::uint64_t unplaced_events_ = 0;
  bool is_uncertain_ = false;
};

}  // namespace offcpud
