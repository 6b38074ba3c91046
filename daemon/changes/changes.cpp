// SPDX-License-Identifier: Apache-2.0
#include "changes/changes.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/duration_text.h"
#include "base/printable.h"
#include "base/utc.h"

namespace offcpud {
namespace {

constexpr double kSignificantErrors = 3;
constexpr double kSignificantShare = 0.1;
constexpr double kLeastThreads = 0.001;
constexpr double kLeastCpus = 0.05;
constexpr std::size_t kMostRunning = 8;

double length_of(const MeasuredRange& range, std::size_t kind) {
  const auto covered = kind >= kCpuWait ? range.cpu_covered : range.covered;
  return static_cast<double>(covered.count());
}

// The error of a side where nothing was sampled: that of one missed wait, as large as the time that
// the samples of the other side stand for beyond their own length.
double missed_ns(const PlaceSum& other) {
  return other.ns > 0 ? other.variance_ns2 / other.ns : 0;
}

ChangedWait compared(const ChangePlace& place, const PlaceSum& before, const PlaceSum& after,
                     double before_length, double after_length) {
  const auto error_ns = [](const PlaceSum& sum, const PlaceSum& other) {
    return sum.ns > 0 ? std::sqrt(sum.variance_ns2) : missed_ns(other);
  };
  const PlaceSum& named = after.ns > 0 ? after : before;
  return {.place = place,
          .cgroup = named.cgroup,
          .before = before.ns / before_length,
          .before_error = error_ns(before, after) / before_length,
          .after = after.ns / after_length,
          .after_error = error_ns(after, before) / after_length,
          .most_before = before.most,
          .functions = named.functions};
}

std::vector<ChangedWait> compared_places(const RangeSums& before, const RangeSums& after) {
  static const PlaceSum nothing;
  std::vector<ChangedWait> rows;
  const auto add = [&](const ChangePlace& place, const PlaceSum& old, const PlaceSum& now) {
    const double before_length = length_of(before.range(), place.kind);
    const double after_length = length_of(after.range(), place.kind);
    if (before_length <= 0 || after_length <= 0) return;
    rows.push_back(compared(place, old, now, before_length, after_length));
  };
  for (const auto& [place, sum] : after.places()) {
    const auto old = before.places().find(place);
    add(place, old != before.places().end() ? old->second : nothing, sum);
  }
  for (const auto& [place, sum] : before.places()) {
    if (!after.places().contains(place)) add(place, sum, nothing);
  }
  return rows;
}

std::vector<ChangedRunning> compared_running(const RangeSums& before, const RangeSums& after) {
  const auto before_length = static_cast<double>(before.range().cpu_covered.count());
  const auto after_length = static_cast<double>(after.range().cpu_covered.count());
  std::vector<ChangedRunning> rows;
  if (before_length <= 0 || after_length <= 0) return rows;
  for (const auto& [unit, ns] : after.running_ns()) rows.push_back({unit, 0, ns / after_length});
  for (const auto& [unit, ns] : before.running_ns()) {
    const auto row = std::ranges::lower_bound(rows, unit, {}, &ChangedRunning::unit);
    if (row != rows.end() && row->unit == unit) {
      row->before = ns / before_length;
    } else {
      rows.insert(row, {unit, ns / before_length, 0});
    }
  }
  const auto change = [](const ChangedRunning& row) { return std::abs(row.after - row.before); };
  std::erase_if(rows, [&](const ChangedRunning& row) {
    return change(row) < kLeastCpus ||
           change(row) <= kSignificantShare * std::max(row.before, row.after);
  });
  std::ranges::stable_sort(rows, std::ranges::greater(), change);
  if (rows.size() > kMostRunning) rows.resize(kMostRunning);
  return rows;
}

void note_range(Changes& changes, const MeasuredRange& range, const char* which) {
  const std::string of = std::string(" of the ") + which + " range ";
  if (range.unreadable > 0) {
    changes.notes.push_back(std::to_string(range.unreadable) + " snapshots" + of +
                            "cannot be read and are missing");
  }
  double told = 0;
  const bool is_before = &range == &changes.before;
  for (const ChangedWait& row : changes.rows) {
    if (row.place.kind < kCpuWait) told += is_before ? row.before : row.after;
  }
  const double lost =
      range.covered.count() > 0 ? range.lost_ns / static_cast<double>(range.covered.count()) : 0;
  if (lost > 0.01 && lost > 0.01 * told) {
    changes.notes.push_back("waits of " + duration_text(std::chrono::duration<double>(lost)) +
                            " a second" + of + "lost their stacks and are in no row");
  }
  if (!range.captured.empty()) {
    std::string filters;
    for (const std::string& filter : range.captured) {
      filters += (filters.empty() ? "" : ", ") + printable(filter);
    }
    changes.notes.push_back("the configuration left waits" + of + "out: " + filters);
  }
}

void note_cpu(Changes& changes) {
  for (const MeasuredRange* range : {&changes.before, &changes.after}) {
    const char* const which = range == &changes.before ? "earlier" : "later";
    if (range->cpu_covered.count() == 0) {
      changes.notes.push_back(
          std::string("waits for a CPU are not compared: those of the ") + which +
          " range are not known; the daemon remembers them for an hour while it runs");
      return;
    }
    if (range->cpu_covered * 10 < range->covered * 9) {
      changes.notes.push_back(std::string("waits for a CPU are known of ") +
                              duration_text(range->cpu_covered) + " of the " + which + " range");
    }
  }
}

}  // namespace

double ChangedWait::error() const {
  return std::hypot(before_error, after_error);
}

std::optional<double> ChangedWait::sigma() const {
  const double unsure = error();
  if (unsure <= 0) return std::nullopt;
  return std::abs(change()) / unsure;
}

bool ChangedWait::significant() const {
  const double size = std::abs(change());
  return size >= kLeastThreads && size > kSignificantErrors * error() &&
         size > kSignificantShare * std::max(before, after);
}

Changes changes_between(const RangeSums& before, const RangeSums& after,
                        const ChangesScope& scope) {
  Changes changes;
  changes.before = before.range();
  changes.after = after.range();
  changes.rows = compared_places(before, after);
  changes.running = compared_running(before, after);
  changes.matching = changes.rows.size();
  const auto rank = [](const ChangedWait& row) {
    const bool unknown = row.place.kind == static_cast<std::size_t>(WaitFor::Unknown);
    return std::tuple(!row.significant(), unknown, -std::abs(row.change()));
  };
  std::ranges::stable_sort(changes.rows, {}, rank);
  changes.significant = static_cast<std::size_t>(
      std::ranges::count_if(changes.rows, [](const auto& row) { return row.significant(); }));
  note_range(changes, changes.before, "earlier");
  note_range(changes, changes.after, "later");
  const bool about_cpu = scope.kinds.test(kCpuWait) || scope.kinds.test(kThrottledWait);
  if (about_cpu && scope.site.empty()) note_cpu(changes);
  if (changes.rows.size() > scope.limit) changes.rows.resize(scope.limit);
  return changes;
}

std::string evidence_of(const ChangedWait& row, const Changes& changes) {
  const SubjectLabels labels = labels_of_cgroup(row.cgroup);
  const std::string& name = labels.unit.empty() ? row.cgroup : labels.unit;
  const auto plain = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of(
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./@:-()+") == std::string::npos;
  };
  if (!plain(name) || (!row.place.site.empty() && !plain(row.place.site))) return {};
  const std::string cgroup =
      name.find_first_of("()") == std::string::npos ? name : "'" + name + "'";
  if (row.place.kind >= kCpuWait) return "offcpuctl top --cgroup " + cgroup + " --sort runqueue";
  std::string command = "offcpuctl flame -o waits.html --cgroup " + cgroup + " --for " +
                        std::string(kChangeKindNames[row.place.kind]);
  if (!row.place.site.empty()) command += " --site " + row.place.site;
  return command + " --from " + rfc3339(changes.after.begin) + " --to " +
         rfc3339(changes.after.end) + " --base-from " + rfc3339(changes.before.begin) +
         " --base-to " + rfc3339(changes.before.end) + " --normalize";
}

}  // namespace offcpud
