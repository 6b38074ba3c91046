// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace offcpud {

// A cgroup directory came or went (mirror of offcpud_cgroup_event, decoded).
struct CgroupChange {
  enum class Kind { Created, Removed, Released };
  Kind kind = Kind::Created;
  std::uint64_t id = 0;
  std::uint64_t parent_id = 0;
  std::string name;  // Created only
};

struct CgroupEntry {
  std::string path;                      // "/" or "/a/b", as in /proc/PID/cgroup after "0::"
  std::uint64_t parent_id = 0;           // 0 for the root
  std::optional<MonotonicTime> removed;  // when rmdir was seen
  bool released = false;                 // the kernel dropped its last reference
};

// Maps the kernfs id of a v2 cgroup (64 bits, the inode number of its directory; kernel
// fs/kernfs/dir.c) to its path. Filled once by a walk, then kept by the kernel's cgroup events, so
// that a cgroup that lived for milliseconds has its name too; a walk repairs what events missed.
// Single-threaded: owned by the pipeline. Paths of v2 cgroups never change (no rename in v2).
class CgroupIndex {
 public:
  // `root`: mount point of the v2 hierarchy as this process sees it.
  explicit CgroupIndex(std::filesystem::path root);

  // Walks the tree once: adds what is missing, marks as removed at `now` what is gone. Directories
  // that vanish during the walk are skipped. Error: the root itself cannot be read.
  Status rescan(MonotonicTime now);

  // Applies one event. An event for a cgroup whose parent is unknown is dropped and counted: the
  // cgroup lies outside the visible hierarchy, or a rescan will find it.
  void apply(const CgroupChange& change, MonotonicTime now);

  // Null when unknown. The pointer is valid until the next non-const call.
  [[nodiscard]] const CgroupEntry* find(std::uint64_t id) const;

  // Path of the nearest ancestor of `path` that is a live cgroup; "/" at the end.
  [[nodiscard]] std::string nearest_live_ancestor(std::string_view path) const;

  // Drops entries removed at or before `before`; returns their ids.
  std::vector<std::uint64_t> forget_removed(MonotonicTime before);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t unplaced_events() const { return unplaced_events_; }

 private:
  std::filesystem::path root_;
  std::unordered_map<std::uint64_t, CgroupEntry> entries_;
  std::unordered_map<std::string, std::uint64_t> live_;  // path -> id of the cgroup that exists now
  std::uint64_t unplaced_events_ = 0;
};

// Mount point of the cgroup v2 hierarchy, from the text of /proc/self/mountinfo (proc(5)); the
// shallowest one wins. nullopt: no cgroup2 file system is mounted.
std::optional<std::filesystem::path> cgroup2_mount(std::string_view mountinfo);

}  // namespace offcpud
