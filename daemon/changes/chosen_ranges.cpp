// SPDX-License-Identifier: Apache-2.0
#include "changes/chosen_ranges.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Range = ChangesScope::Range;

constexpr std::chrono::seconds kClose{1};  // what clocks and roundings may differ by

WallTime middle_of(WallTime begin, WallTime end) {
  return begin + (end - begin) / 2;
}

bool contains(const Range& range, WallTime time) {
  return time >= range.from && time < range.to;
}

std::vector<StoredSnapshot> chosen(const std::vector<StoredSnapshot>& kept, const Range& range) {
  std::vector<StoredSnapshot> in_range, overlapping;
  for (const StoredSnapshot& each : kept) {
    if (contains(range, middle_of(each.name.begin, each.name.end))) in_range.push_back(each);
    if (each.name.begin < range.to && each.name.end > range.from) overlapping.push_back(each);
  }
  return in_range.empty() ? overlapping : in_range;
}

// Half of what is kept of both ranges is compared with the other half.
void shorten(ChangesScope& scope, const std::vector<StoredSnapshot>& all) {
  const auto first = std::ranges::find_if(
      all, [&](const StoredSnapshot& each) { return each.name.end > scope.base.from; });
  if (first == all.end()) return;
  const WallTime now = scope.range.to;
  const WallTime oldest = first->name.begin;
  const auto kept = now - oldest;
  if (kept >= 2 * WallTime::duration(ChangesScope::kRange) || kept <= kept.zero()) return;
  scope.range.from = oldest + kept / 2;
  scope.base = {.from = oldest, .to = scope.range.from};
}

std::string kept_text(const std::vector<StoredSnapshot>& kept) {
  return "the kept ones are from " + rfc3339(kept.front().name.begin) + " to " +
         rfc3339(kept.back().name.end);
}

Error nothing_in(const char* which, const ChangesScope& scope,
                 const std::vector<StoredSnapshot>& kept) {
  return Error(std::string("there is no snapshot in the ") + which + " range of time; " +
                   kept_text(kept) + "; use " +
                   (scope.as_text ? "--from, --to, --base-from and --base-to"
                                  : "from, to, base_from and base_to"),
               ErrorKind::NotFound);
}

// "--base-to 2026-11-24T17:23:15Z", as the client writes it.
std::string earlier_end(const ChangesScope& scope, WallTime end) {
  return (scope.as_text ? "--base-to " : "base_to=") + rfc3339(end);
}

// Of a query without times, and where nothing is kept.
Error nothing_to_compare(const std::vector<StoredSnapshot>& kept) {
  const std::string text =
      kept.empty() ? "no snapshot is kept so far; the first one comes after snapshots.interval, "
                     "1 min by default: ask again then"
                   : kept_text(kept) + ": ask again in a minute or two";
  return Error("there is nothing to compare yet: " + text, ErrorKind::NotFound);
}

// A range that no middle of a snapshot lies in takes the one around it, which may be of both
// ranges. Then the later range gives it up if it has other data, else the earlier one, which ends
// sooner.
void share_none(ChosenSnapshots& snapshots, const std::vector<StoredSnapshot>& kept,
                ChangesScope& scope, bool later_is_known) {
  auto& [before, after] = snapshots;
  if (before.empty() || after.empty()) return;
  if (before.back().name.sequence != after.front().name.sequence) return;
  if (later_is_known) {
    after.erase(after.begin());
  } else {
    scope.base.to = after.front().name.begin;
    before = chosen(kept, scope.base);
  }
}

std::string text_of(const Range& range) {
  return rfc3339(range.from) + " to " + rfc3339(range.to);
}

bool differs(WallTime a, WallTime b) {
  return a > b ? a - b > kClose : b - a > kClose;
}

}  // namespace

Result<ChosenSnapshots> choose_snapshots(const std::vector<StoredSnapshot>& kept,
                                         ChangesScope& scope, bool later_is_known) {
  if (kept.empty()) return nothing_to_compare(kept);
  if (scope.by_default) shorten(scope, kept);
  ChosenSnapshots snapshots{.before = chosen(kept, scope.base), .after = chosen(kept, scope.range)};
  if (scope.by_default) share_none(snapshots, kept, scope, later_is_known);
  const bool has_later = !snapshots.after.empty() || later_is_known;
  if (scope.by_default && (snapshots.before.empty() || !has_later)) {
    return nothing_to_compare(kept);
  }
  if (snapshots.before.empty()) return nothing_in("earlier", scope, kept);
  if (!has_later) return nothing_in("later", scope, kept);
  const std::size_t all = snapshots.before.size() + snapshots.after.size();
  if (all > ChosenSnapshots::kMost) {
    return Error("these ranges hold " + std::to_string(all) + " snapshots, and at most " +
                     std::to_string(ChosenSnapshots::kMost) +
                     " are compared at once; use shorter ranges",
                 ErrorKind::Usage);
  }
  return snapshots;
}

std::vector<RecentWindow> recent_windows(const View& view, const Range& range, WallTime since) {
  std::vector<RecentWindow> windows;
  for (const auto& window : view.site_history) {
    const auto ago = [&](MonotonicTime time) {
      return view.taken_wall - std::chrono::duration_cast<WallTime::duration>(view.taken - time);
    };
    const WallTime begin = ago(window->begin), end = ago(window->end);
    const bool is_new = since == WallTime::min() || begin >= since - kClose;
    if (is_new && contains(range, middle_of(begin, end))) windows.emplace_back(window, end);
  }
  return windows;
}

CpuSteps cpu_steps(const CpuSteps& minutes,
                   const std::vector<std::shared_ptr<const WaitStep>>& history,
                   const Range& range) {
  CpuSteps all;
  for (const auto& step : history) all.push_back(cpu_step_of(*step));
  CpuSteps older = minutes;
  // Each minute is the sum of whole steps, so where one begins before them it ends with one.
  if (!all.empty()) {
    const WallTime begin = all.front()->begin;
    std::erase_if(older, [&](const auto& step) { return step->begin >= begin; });
  }
  if (!older.empty()) {
    const WallTime end = older.back()->end;
    std::erase_if(all, [&](const auto& step) { return step->begin < end; });
  }
  all.insert(all.begin(), older.begin(), older.end());
  std::erase_if(
      all, [&](const auto& step) { return !contains(range, middle_of(step->begin, step->end)); });
  return all;
}

std::vector<std::string> notes_on_ranges(const ChangesScope& asked, const ChangesScope& used,
                                         const MeasuredRange& before, const MeasuredRange& after) {
  std::vector<std::string> notes;
  if (used.range.from != asked.range.from) {
    notes.push_back("of the last 70 min only the last " +
                    duration_text(used.range.to - used.base.from) +
                    " are kept, so both ranges are shorter than 10 min and the hour before");
  } else {
    const auto kept = before.end - before.begin;
    const auto wanted = asked.base.to - asked.base.from;
    if (kept < wanted * 9 / 10) {
      notes.push_back("of the earlier range, " + text_of(asked.base) + ", only " +
                      duration_text(kept) + " are kept");
    } else if (differs(before.begin, asked.base.from) || differs(before.end, asked.base.to)) {
      notes.push_back("the earlier range is rounded to whole snapshots; asked for: " +
                      text_of(asked.base));
    }
    if (differs(after.begin, asked.range.from) || differs(after.end, asked.range.to)) {
      notes.push_back("the later range is rounded to whole snapshots; asked for: " +
                      text_of(asked.range));
    }
  }
  const WallTime begin = std::max(before.begin, after.begin);
  const WallTime end = std::min(before.end, after.end);
  if (end - begin > kClose) {
    const bool has_earlier = after.begin - before.begin > kClose;
    notes.push_back(
        "the ranges overlap by " + duration_text(end - begin) + ", which hides changes; " +
        (has_earlier ? "they do not with " + earlier_end(asked, after.begin)
                     : std::string("use an earlier ") + (asked.as_text ? "--base-to" : "base_to")));
  }
  return notes;
}

}  // namespace offcpud
