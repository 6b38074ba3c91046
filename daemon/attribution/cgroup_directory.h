// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/cgroup_index.h"
#include "attribution/subject.h"
#include "base/clock.h"
#include "base/result.h"

namespace offcpud {

// A cgroup, and any number that changes when the kernel has accounted more to it.
struct CgroupActivity {
  std::uint64_t id = 0;
  std::uint64_t activity = 0;
};

// The cgroups in one reading of the kernel's counters.
struct SeenCgroups {
  std::vector<CgroupActivity> accounted;
  std::vector<std::uint64_t> of_threads;  // of every thread, even of one that only sleeps
  bool missed_changes = false;            // an event was lost, or events are not available
};

// The paths of all cgroups, by id. Any thread may look up paths. One thread, the owner, changes the
// directory and calls the functions marked "The owner". No lock is held while the file system is
// read.
class CgroupDirectory {
 public:
  // `root`: mount point of the v2 hierarchy as this process sees it.
  explicit CgroupDirectory(std::filesystem::path root) : root_(std::move(root)) {}

  // Any thread. The path, even if the cgroup was removed up to a minute ago; nullopt: the id is
  // unknown.
  [[nodiscard]] std::optional<std::string> find(std::uint64_t id) const;

  // Any thread. The path, or the label of a cgroup without one: "(other)" for id 0, else
  // "(unknown)".
  [[nodiscard]] std::string path_of(std::uint64_t id) const;

  // Any thread. Whether a cgroup of this path exists now.
  [[nodiscard]] bool is_live(std::string_view path) const;

  // The owner. Walks the hierarchy. Error: its root cannot be read; the directory does not change.
  Status rescan(MonotonicTime now);

  // The owner. Applies one event.
  void apply(const CgroupChange& change, MonotonicTime now);

  // The owner, at each pass. Walks the hierarchy, at most once, when a cgroup that was seen has no
  // path or changes were missed. Looks for the same cgroup again at growing intervals, because one
  // outside of the visible hierarchy never gets a path. Error: as rescan().
  Status name(const SeenCgroups& seen, MonotonicTime now);

  // The owner, after name() with the same cgroups. Returns those to which the kernel will hardly
  // account anything more, so that others can have their places in its maps: cgroups removed 10 s
  // ago, whose last threads have ended by now, and cgroups without a path that were idle for 30 s.
  // The latter may still live; then they get a new place.
  [[nodiscard]] std::vector<std::uint64_t> quiet(std::span<const CgroupActivity> accounted,
                                                 MonotonicTime now) const;

  // The owner. The path that takes over the time of `path`: the "(removed)" below its nearest
  // ancestor that exists. nullopt: `path` exists itself (for "/a/(removed)": "/a" does).
  [[nodiscard]] std::optional<std::string> successor_of(std::string_view path) const;

  // The owner. Forgets the paths of cgroups that were removed a minute ago.
  void forget_removed(MonotonicTime now);

  // The owner. Number of events that could not be applied; see CgroupIndex::apply().
  [[nodiscard]] std::uint64_t unplaced_events() const { return index_.unplaced_events(); }

 private:
  struct Miss {
    MonotonicTime retry;  // no walk for it before this
    std::chrono::seconds wait{1};
    std::uint64_t activity = 0;  // as last seen
    MonotonicTime changed;       // when `activity` last changed
  };
  void note_misses(const SeenCgroups& seen, MonotonicTime now);

  const std::filesystem::path root_;
  // Held to change the index, and to read it on any thread but the owner.
  mutable std::mutex mutex_;
  CgroupIndex index_;
  // Used by the owner only.
  MonotonicTime walked_;                  // last walk by name()
  bool missed_changes_ = false;           // since `walked_`
  std::map<std::uint64_t, Miss> misses_;  // by id: cgroups without a path in the last name()
};

}  // namespace offcpud
