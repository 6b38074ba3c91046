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

// What the kernel has accounted to a cgroup so far, as any number that changes when there is more.
struct CgroupActivity {
  std::uint64_t id = 0;
  std::uint64_t activity = 0;
};

// The cgroups that one reading of the kernel's counters is about.
struct SeenCgroups {
  std::vector<CgroupActivity> accounted;
  std::vector<std::uint64_t> of_threads;  // of every thread, also of those that only sleep
  bool missed_changes = false;            // an event of a cgroup was lost, or there are none
};

// The paths of all cgroups, by id. One thread changes the directory and asks what stands under
// "The owner"; any thread may ask for paths. No lock is held while the file system is read.
class CgroupDirectory {
 public:
  // `root`: mount point of the v2 hierarchy as this process sees it.
  explicit CgroupDirectory(std::filesystem::path root) : root_(std::move(root)) {}

  // Any thread. The path, also of a cgroup that was removed less than a minute ago; nothing if the
  // id is not known.
  [[nodiscard]] std::optional<std::string> find(std::uint64_t id) const;

  // Any thread. The path, or the label that says why there is none: "(other)" for 0, "(unknown)".
  [[nodiscard]] std::string path_of(std::uint64_t id) const;

  // Any thread. Whether a cgroup of this path exists now.
  [[nodiscard]] bool is_live(std::string_view path) const;

  // The owner. Walks the hierarchy. Error: its root cannot be read; the directory stays as it was.
  Status rescan(MonotonicTime now);

  // The owner. Follows one event.
  void apply(const CgroupChange& change, MonotonicTime now);

  // The owner, at each pass. Walks the hierarchy when a cgroup that was seen has no path, or when
  // changes were missed; once at most. A cgroup outside of the visible hierarchy never gets a path,
  // so each one is looked for again at growing intervals. Error: as rescan().
  Status name(const SeenCgroups& seen, MonotonicTime now);

  // The owner, after name() with the same ones. Which of them will hardly be accounted to again, so
  // that the kernel can give their places to others: those that were removed 10 s ago, when their
  // last threads have ended, and those without a path that were idle for 30 s; these may live, and
  // get a new place then.
  [[nodiscard]] std::vector<std::uint64_t> quiet(std::span<const CgroupActivity> accounted,
                                                 MonotonicTime now) const;

  // The owner. Where the time of `path` belongs: nothing if it belongs there, as the cgroup lives;
  // else the "(removed)" below the nearest ancestor that does. "/a/(removed)" belongs there while
  // "/a" lives.
  [[nodiscard]] std::optional<std::string> heir_of(std::string_view path) const;

  // The owner. Forgets the paths of cgroups that were removed a minute ago.
  void forget_removed(MonotonicTime now);

  // The owner. Events that could not be applied; see CgroupIndex::apply().
  [[nodiscard]] std::uint64_t unplaced_events() const { return index_.unplaced_events(); }

 private:
  struct Miss {
    MonotonicTime retry;  // no walk for it before
    std::chrono::seconds wait{1};
    std::uint64_t activity = 0;  // when it was last seen
    MonotonicTime changed;       // when that was last another one
  };
  void note_misses(const SeenCgroups& seen, MonotonicTime now);

  const std::filesystem::path root_;
  // Held when the index is changed, and when another thread than the one that changes it reads it.
  mutable std::mutex mutex_;
  CgroupIndex index_;
  // Of the owner.
  MonotonicTime walked_;                  // by name()
  bool missed_changes_ = false;           // since then
  std::map<std::uint64_t, Miss> misses_;  // by id: those of the last name() without a path
};

}  // namespace offcpud
