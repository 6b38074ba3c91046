// SPDX-License-Identifier: Apache-2.0
#include "pipeline/past_view.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "pipeline/site_history.h"
#include "pipeline/stall.h"
#include "pipeline/taker.h"
#include "pipeline/wait_history.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

// The windows up to the one that ended nearest to `then`, up to half a window after it. They are in
// order.
template <class Window>
std::vector<Window> until(const std::vector<Window>& windows, MonotonicTime then) {
  const auto later = std::ranges::find_if(
      windows, [then](const Window& window) { return window->end > then + window->length() / 2; });
  return {windows.begin(), later};
}

// Keeps of a cgroup's threads only how many are kernel threads that wait for work, so that their
// waits stay apart.
std::shared_ptr<const WaitsInProgress> only_workers(const WaitsInProgress& now) {
  auto then = std::make_shared<WaitsInProgress>();
  for (std::size_t kind = 0; kind < now.open.size(); ++kind) {
    then->open[kind].threads = then->open[kind].for_work = now.open[kind].for_work;
  }
  return then;
}

// Sets who had been kept off by whom by the time of the step.
void set_kept_off(std::vector<SubjectSeries>& rows, const KeptOffStep* step) {
  for (SubjectSeries& row : rows) {
    row.kept_off = nullptr;
    if (!step) continue;
    const auto found = std::ranges::lower_bound(
        step->rows, row.labels->cgroup, {},
        [](const KeptOffStep::Row& each) -> const std::string& { return each.labels->cgroup; });
    const bool has = found != step->rows.end() && found->labels->cgroup == row.labels->cgroup;
    if (has) row.kept_off = found->kept_off;
  }
}

}  // namespace

View view_until(const View& now, WallTime to) {
  View then;
  then.stalls = std::make_shared<const StallList>();
  then.stall_bounds = now.stall_bounds;
  then.taken = now.taken - (now.taken_wall - to);
  then.history = until(now.history, then.taken);
  if (!then.history.empty()) then.taken = then.history.back()->end;
  then.taken_wall =
      now.taken_wall - std::chrono::duration_cast<WallTime::duration>(now.taken - then.taken);
  then.site_history = until(now.site_history, then.taken);
  then.peer_history = until(now.peer_history, then.taken);
  then.goroutine_history = until(now.goroutine_history, then.taken);
  for (const auto& step : now.kept_off_steps) {
    if (step->taken <= then.taken) then.kept_off_steps.push_back(step);
  }
  then.subjects = now.subjects;
  for (SubjectSeries& row : then.subjects) {
    if (row.in_progress) row.in_progress = only_workers(*row.in_progress);
    row.stalls = nullptr;
    row.deadlocked = 0;
  }
  set_kept_off(then.subjects,
               then.kept_off_steps.empty() ? nullptr : then.kept_off_steps.back().get());
  return then;
}

}  // namespace offcpud
