// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/unit_names.h"
#include "base/clock.h"
#include "changes/changes_scope.h"
#include "pipeline/cpu_history.h"
#include "pipeline/site_history.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// What is compared: the waits of one unit for one thing at one site.
struct ChangePlace {
  std::string unit;      // unit_name()
  std::size_t kind = 0;  // index of kChangeKindNames
  std::string site;      // empty: no rule took the waits, they are idle, or for a CPU

  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const ChangePlace&, const ChangePlace&) = default;
};

// How long threads waited at a place within a range.
struct PlaceSum {
  double ns = 0;
  double variance_ns2 = 0;             // of ns, by sampling; 0: exact
  double most = 0;                     // threads that waited on average in the worst snapshot
  std::string cgroup;                  // path of the largest entry
  std::vector<std::string> functions;  // of its user stack, innermost first; 5 at most
  double largest_ns = 0;               // of the entry that gave both
};

// What a range consists of.
struct MeasuredRange {
  WallTime begin, end;  // of what was summed; both 0: nothing was
  std::chrono::nanoseconds covered{0};
  std::chrono::nanoseconds cpu_covered{0};  // in which waits for a CPU are known
  std::size_t snapshots = 0, unreadable = 0;
  double lost_ns = 0;                 // waits whose stacks were lost
  std::vector<std::string> captured;  // as in Snapshot: what the configuration left out
  // Left out as idle.
  double work_ns = 0, timer_ns = 0, child_ns = 0;
};

// Sums the waits of one range by place. Holds kMostPlaces at most; the rest is summed under
// "(other)", by what it is for.
class RangeSums {
 public:
  static constexpr std::size_t kMostPlaces = 20'000;

  // `with_sites` false: the client may not see what stacks say, so sums are by unit and kind only.
  // `scope` must outlive the object.
  RangeSums(const ChangesScope& scope, bool with_sites) : scope_(scope), with_sites_(with_sites) {}

  void add(const Snapshot& snapshot);
  // A window that no snapshot covers yet; `end`: by the wall clock.
  void add(const SiteWindow& window, WallTime end);
  void add(const CpuStep& step);
  void count_unreadable() { ++range_.unreadable; }

  [[nodiscard]] const std::map<ChangePlace, PlaceSum>& places() const { return places_; }
  [[nodiscard]] const std::map<std::string, double>& running_ns() const { return running_ns_; }
  [[nodiscard]] const MeasuredRange& range() const { return range_; }
  // Whether something was in the requested cgroup, even if it was left out otherwise.
  [[nodiscard]] bool has_cgroup() const { return has_cgroup_; }

 private:
  struct Waits;

  void add(const Waits& waits);
  void extend(WallTime begin, WallTime end, std::chrono::nanoseconds covered);
  void end_interval(std::chrono::nanoseconds length);
  [[nodiscard]] bool leaves_out(const Waits& waits);
  PlaceSum& place_of(std::string_view cgroup, std::size_t kind, std::string_view site);

  const ChangesScope& scope_;
  const bool with_sites_;
  std::map<ChangePlace, PlaceSum> places_;
  std::map<PlaceSum*, double> interval_ns_;   // of the snapshot or window that is being added
  std::map<std::string, double> running_ns_;  // by unit
  UnitNames names_;
  MeasuredRange range_;
  bool has_cgroup_ = false;
};

}  // namespace offcpud
