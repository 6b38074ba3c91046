// SPDX-License-Identifier: Apache-2.0
// Random lives of cgroups: whatever the order in which events and walks arrive, the index ends up
// with what exists.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "attribution/cgroup_index.h"
#include "support/temp_tree.h"
#include "support/times.h"

namespace offcpud {
namespace {

using test::at;
using Kind = CgroupChange::Kind;

// A hierarchy in memory that makes random directories and removes empty ones.
class RandomHierarchy {
 public:
  struct Directory {
    std::uint64_t parent_id = 0;
    std::string path;
    int children = 0;
  };

  explicit RandomHierarchy(unsigned seed) : random_(seed) {}

  void start(std::uint64_t root_id) { live_[root_id] = {0, "/", 0}; }

  [[nodiscard]] unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  // The next thing to happen. `id` of a created one is for the caller to fill in by `create`.
  CgroupChange next() {
    const std::uint64_t id = any();
    const Directory& directory = live_.at(id);
    if (below(5) < 2 && directory.parent_id != 0 && directory.children == 0) {
      return {Kind::Removed, id, 0, {}};
    }
    return {Kind::Created, 0, id, std::string(1, static_cast<char>('a' + below(4)))};
  }

  [[nodiscard]] std::string child_path(const CgroupChange& change) const {
    const std::string& parent = live_.at(change.parent_id).path;
    return (parent == "/" ? "" : parent) + "/" + change.name;
  }

  [[nodiscard]] bool exists(const std::string& path) const {
    for (const auto& [id, directory] : live_) {
      if (directory.path == path) return true;
    }
    return false;
  }

  void happen(const CgroupChange& change) {
    if (change.kind == Kind::Created) {
      const std::string path = child_path(change);
      ++live_.at(change.parent_id).children;
      live_[change.id] = {change.parent_id, path, 0};
    } else {
      --live_.at(live_.at(change.id).parent_id).children;
      live_.erase(change.id);
    }
  }

  [[nodiscard]] const std::map<std::uint64_t, Directory>& live() const { return live_; }

  [[nodiscard]] CgroupWalk walk() const {
    CgroupWalk walk;
    for (const auto& [id, directory] : live_) {
      walk.found.push_back({id, directory.parent_id, directory.path});
    }
    return walk;
  }

 private:
  std::uint64_t any() {
    auto item = live_.begin();
    std::advance(item, below(static_cast<unsigned>(live_.size())));
    return item->first;
  }

  std::mt19937 random_;
  std::map<std::uint64_t, Directory> live_;
};

void expect_same(const CgroupIndex& a, const CgroupIndex& b, std::uint64_t id) {
  const CgroupEntry* in_a = a.find(id);
  const CgroupEntry* in_b = b.find(id);
  ASSERT_TRUE(in_a != nullptr && in_b != nullptr) << id;
  EXPECT_EQ(in_a->path, in_b->path);
  EXPECT_EQ(in_a->parent_id, in_b->parent_id);
  EXPECT_EQ(in_a->removed, in_b->removed) << in_a->path;
}

TEST(CgroupIndexProperty, EventsAndRescansGiveTheSameIndex) {
  TempTree tree;
  CgroupIndex by_events;
  CgroupIndex by_rescan;
  const auto rescan = [&tree](CgroupIndex& index, MonotonicTime now) -> Status {
    TRY(const CgroupWalk walk, walk_cgroups(tree.root()));
    index.apply(walk, now);
    return {};
  };
  ASSERT_TRUE(rescan(by_events, at(0)));
  RandomHierarchy hierarchy(20240117);
  hierarchy.start(tree.inode("."));
  std::vector<std::uint64_t> ids{tree.inode(".")};

  for (int now = 1; now <= 400; ++now) {
    CgroupChange change = hierarchy.next();
    if (change.kind == Kind::Removed) {
      tree.remove_directory("." + hierarchy.live().at(change.id).path);
    } else {
      const std::string path = hierarchy.child_path(change);
      if (hierarchy.exists(path) || cgroup_depth(path) > 6) continue;
      tree.put({{"." + path + "/"}});
      change.id = tree.inode("." + path);
      ids.push_back(change.id);
    }
    hierarchy.happen(change);
    by_events.apply(change, at(now));
    ASSERT_TRUE(rescan(by_rescan, at(now) - std::chrono::milliseconds(1)));
    ASSERT_TRUE(rescan(by_rescan, at(now)));
    ASSERT_EQ(by_events.size(), by_rescan.size());
    for (const std::uint64_t id : ids) expect_same(by_events, by_rescan, id);
  }
  EXPECT_EQ(by_events.unplaced_events(), 0U);
}

void expect_live_is(const CgroupIndex& index, const RandomHierarchy& hierarchy,
                    std::uint64_t last_id) {
  for (std::uint64_t id = 1; id <= last_id; ++id) {
    const CgroupEntry* entry = index.find(id);
    const auto truth = hierarchy.live().find(id);
    const bool live = truth != hierarchy.live().end();
    ASSERT_EQ(entry != nullptr && !entry->removed, live) << id;
    if (live) {
      EXPECT_EQ(entry->path, truth->second.path);
      EXPECT_EQ(index.nearest_live_ancestor(entry->path + "/x"), entry->path);
    }
  }
}

// The kernel's side runs ahead of the events that the index has read, and walks see the kernel's
// side at once. `lost_in_100`: events that never arrive; the last two walks must then repair.
void run_with_late_events(unsigned seed, unsigned lost_in_100) {
  RandomHierarchy kernel(seed);
  kernel.start(1);
  CgroupIndex index;
  index.apply(kernel.walk(), at(0));
  std::uint64_t last_id = 1;
  std::deque<CgroupChange> ring;

  for (int now = 1; now <= 500; ++now) {
    CgroupChange change = kernel.next();
    if (change.kind == Kind::Created) {
      if (kernel.exists(kernel.child_path(change))) continue;
      change.id = ++last_id;
    }
    kernel.happen(change);
    if (kernel.below(100) >= lost_in_100) ring.push_back(change);
    if (kernel.below(20) == 0) index.apply(kernel.walk(), at(now));
    for (unsigned reads = kernel.below(10) == 0 ? 20 : 0; reads > 0 && !ring.empty(); --reads) {
      index.apply(ring.front(), at(now));
      ring.pop_front();
    }
  }
  for (const CgroupChange& change : ring) index.apply(change, at(501));
  for (int now = 502; lost_in_100 > 0 && now <= 503; ++now) index.apply(kernel.walk(), at(now));
  expect_live_is(index, kernel, last_id);
}

TEST(CgroupIndexProperty, LateEventsAreHarmless) {
  for (unsigned seed = 0; seed < 50; ++seed) run_with_late_events(seed, 0);
}

TEST(CgroupIndexProperty, WalkRepairsLostEvents) {
  for (unsigned seed = 0; seed < 50; ++seed) run_with_late_events(seed, 20);
}

}  // namespace
}  // namespace offcpud
