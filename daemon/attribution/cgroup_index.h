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

// A cgroup directory came or went (mirror of offcpud_cgroup_event, decoded).
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
  std::optional<MonotonicTime> removed;  // when rmdir was seen
  std::optional<MonotonicTime> missed;   // when a walk first did not find it
};

// Maps the kernfs id of a v2 cgroup (64 bits, the inode number of its directory; kernel
// fs/kernfs/dir.c) to its path. Filled once by a walk, then kept by the kernel's cgroup events, so
// that a cgroup that lived for milliseconds has its name too; a walk repairs what events missed.
// Walks and events may overtake each other; two facts put them in order: an id never comes back,
// and of two ids under one path the larger is the newer, because kernfs hands them out in rising
// order. Not thread-safe. Paths of v2 cgroups never change (no rename in v2).
class CgroupIndex {
 public:
  // Adds the cgroups that the walk found. Marks as removed at `now` those that two walks in a row
  // did not find, except below directories that could not be read. One walk is not enough: the
  // kernel tells of a new cgroup a moment before its directory shows (cgroup_mkdir,
  // kernfs_activate).
  void apply(const CgroupWalk& walk, MonotonicTime now);

  // Whether the last walk left something for another one to settle.
  [[nodiscard]] bool doubts() const { return doubts_; }

  // Applies one event. Drops and counts the creation of a cgroup whose parent is unknown (it lies
  // outside the visible hierarchy, or a walk will find it), whose name is not one path component,
  // or that is nested too deep. Ignores the end of an unknown cgroup.
  void apply(const CgroupChange& change, MonotonicTime now);

  // Null when unknown. The pointer is valid until the next non-const call.
  [[nodiscard]] const CgroupEntry* find(std::uint64_t id) const;

  // Whether a cgroup of this path exists now.
  [[nodiscard]] bool is_live(std::string_view path) const { return live_.contains(path); }

  // Path of the nearest ancestor of `path` that is a live cgroup, never `path` itself; "/" at the
  // end.
  [[nodiscard]] std::string nearest_live_ancestor(std::string_view path) const;

  // Drops entries removed at or before `before`.
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
  // path -> id of the cgroup that exists now
  std::unordered_map<std::string, std::uint64_t, PathHash, std::equal_to<>> live_;
  std::uint64_t unplaced_events_ = 0;
  bool doubts_ = false;
};

}  // namespace offcpud
