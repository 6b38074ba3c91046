// SPDX-License-Identifier: Apache-2.0
#include "changes/chosen_ranges.h"

#include <algorithm>

#include "base/duration_text.h"
#include "base/utc.h"

namespace offcpud {
namespace {

using Range = ChangesScope::Range;

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

// Half of what is kept is compared with the other half.
void shorten(ChangesScope& scope, WallTime oldest) {
  const WallTime now = scope.range.to;
  const auto kept = now - oldest;
  if (kept >= 2 * WallTime::duration(ChangesScope::kRange) || kept <= kept.zero()) return;
  scope.range.from = oldest + kept / 2;
  scope.base = {.from = oldest, .to = scope.range.from};
}

std::string kept_text(const std::vector<StoredSnapshot>& kept) {
  if (kept.empty())
    return "no snapshot is kept so far; the first one is there after a minute or so";
  return "the kept ones are from " + rfc3339(kept.front().name.begin) + " to " +
         rfc3339(kept.back().name.end);
}

Error nothing_in(const char* which, const std::vector<StoredSnapshot>& kept) {
  return Error(std::string("there is no snapshot in the ") + which + " range of time; " +
                   kept_text(kept) + "; use from, to, base_from and base_to",
               ErrorKind::NotFound);
}

std::string text_of(const Range& range) {
  return rfc3339(range.from) + " to " + rfc3339(range.to);
}

bool differs(WallTime a, WallTime b) {
  constexpr std::chrono::seconds kClose{1};
  return a > b ? a - b > kClose : b - a > kClose;
}

}  // namespace

Result<ChosenSnapshots> choose_snapshots(const std::vector<StoredSnapshot>& kept,
                                         ChangesScope& scope, bool later_is_known) {
  if (scope.by_default && !kept.empty()) shorten(scope, kept.front().name.begin);
  ChosenSnapshots snapshots{.before = chosen(kept, scope.base), .after = chosen(kept, scope.range)};
  if (snapshots.before.empty()) return nothing_in("earlier", kept);
  if (snapshots.after.empty() && !later_is_known) return nothing_in("later", kept);
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
    const WallTime middle = middle_of(begin, end);
    if (contains(range, middle) && middle > since) windows.emplace_back(window, end);
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
    notes.push_back("only " + duration_text(used.range.to - used.base.from) +
                    " are kept, so their later half is compared with the earlier one");
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
  if (end - begin > std::chrono::seconds(1)) {
    notes.push_back("the ranges overlap by " + duration_text(end - begin) +
                    ", which hides changes; use an earlier base_to");
  }
  return notes;
}

}  // namespace offcpud
