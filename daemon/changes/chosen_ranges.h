// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "changes/changes_scope.h"
#include "changes/range_sums.h"
#include "pipeline/view.h"
#include "snapshot/snapshot_library.h"

namespace offcpud {

// The kept snapshots that stand for two ranges: those whose middle lies in the range, or, if there
// is none, those that overlap it. Only the latter may stand for both of two separate ranges.
struct ChosenSnapshots {
  std::vector<StoredSnapshot> before, after;

  static constexpr std::size_t kMost = 3'000;  // so that an answer takes seconds
};

// Without times in the query (`by_default`), ranges become shorter where less is kept, and share no
// snapshot; `scope` then says which were used. `later_is_known`: the later range has other data
// besides snapshots. Error: a sentence that says what is kept and what to do (ErrorKind::NotFound),
// or that it is too much (ErrorKind::Usage).
Result<ChosenSnapshots> choose_snapshots(const std::vector<StoredSnapshot>& kept,
                                         ChangesScope& scope, bool later_is_known);

// A window, and when it ended by the wall clock.
using RecentWindow = std::pair<std::shared_ptr<const SiteWindow>, WallTime>;

// The windows in the range that began after `since`, the end of the last snapshot. One that began
// less than a second earlier counts, too.
std::vector<RecentWindow> recent_windows(const View& view, const ChangesScope::Range& range,
                                         WallTime since);

// The steps of a range: those whose middle lies in it. `minutes`: the steps of the last hour.
// `history`: shorter ones of the last minutes, which are used instead.
CpuSteps cpu_steps(const CpuSteps& minutes,
                   const std::vector<std::shared_ptr<const WaitStep>>& history,
                   const ChangesScope::Range& range);

// Sentences about ranges that were not used as they were asked for, or that overlap.
std::vector<std::string> notes_on_ranges(const ChangesScope& asked, const ChangesScope& used,
                                         const MeasuredRange& before, const MeasuredRange& after);

}  // namespace offcpud
