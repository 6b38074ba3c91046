// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/why_rows.h"
#include "api/why_sources.h"
#include "base/clock.h"
#include "base/hist_kind.h"
#include "pipeline/reading_source.h"
#include "pipeline/site_history.h"
#include "pipeline/wait_history.h"
#include "pipeline/wait_window.h"
#include "why/cause.h"

namespace offcpud {
namespace {

// A unit no longer waits for something if it waits for it less than this part of its average.
constexpr double kLeastOfMean = 0.1;
// For at least this long, unless its processes have ended: a pause is no end.
constexpr std::chrono::seconds kLeastQuiet{5};

using Process = std::pair<std::uint32_t, std::uint64_t>;  // number and start

// The processes of the last window that have ended by the last walk over threads.
std::vector<Process> ended_by_now(const View& view, std::chrono::nanoseconds suspended) {
  std::vector<Process> ended;
  if (!view.waits || !view.walk || view.walk->threads.empty()) return ended;
  // Who began before the walk and is not in it has ended.
  const auto first = std::ranges::min_element(view.walk->threads, {}, &offcpud_thread::now_ns);
  const std::uint64_t walked_ns = first->now_ns + static_cast<std::uint64_t>(suspended.count());
  std::map<Process, bool> lives;
  for (const SiteWaits& waits : view.waits->sites) {
    const bool may_end = waits.pid != 0 && waits.process_start_ns < walked_ns;
    if (may_end) lives.try_emplace({waits.pid, waits.process_start_ns}, false);
  }
  for (const offcpud_thread& thread : view.walk->threads) {
    if (thread.state == OFFCPUD_THREAD_ENDED) continue;  // a zombie
    const auto found = lives.find({thread.local_tgid, thread.process_start_ns});
    if (found != lives.end()) found->second = true;
  }
  for (const auto& [process, is_alive] : lives) {
    if (!is_alive) ended.push_back(process);
  }
  return ended;
}

// How much each unit waited for each thing, window by window; the last window comes first.
class Paces {
 public:
  using Key = std::pair<std::string, std::size_t>;  // unit and what for

  void begin_window(MonotonicTime begin, MonotonicTime end) { windows_.push_back({begin, end}); }
  // Within the window that began last.
  void add(const std::string& unit, std::size_t for_kind, double ns) {
    auto& sums = sums_[{unit, for_kind}];
    sums.resize(std::max(sums.size(), windows_.size()));
    sums[windows_.size() - 1] += ns;
  }
  // Part of what the last window has is of processes that have ended.
  void end_now(const std::string& unit, std::size_t for_kind, double ns) {
    ended_[{unit, for_kind}] += ns;
  }

  void add_past(std::vector<UnitPast>& rows, MonotonicTime now, const auto& is_gone) const {
    for (const auto& [key, sums] : sums_) {
      const bool gone = is_gone(key.first);
      const auto ended = ended_.find(key);
      const double lasting = gone ? 0 : sums[0] - (ended == ended_.end() ? 0 : ended->second);
      const double least = kLeastOfMean * mean(sums);
      if (least <= 0 || lasting / length(0) >= least) continue;
      const std::size_t last = last_with(sums, least);
      const bool was_quiet = windows_[0].end - windows_[last].end >= kLeastQuiet;
      if (!was_quiet && !gone && ended == ended_.end()) continue;
      rows.push_back({.unit = key.first,
                      .for_kind = key.second,
                      .within_seconds = in_seconds(now - windows_[last].begin),
                      .is_gone = gone});
    }
  }

 private:
  struct Window {
    MonotonicTime begin, end;
  };

  [[nodiscard]] double length(std::size_t window) const {
    return std::max(1.0, in_seconds(windows_[window].end - windows_[window].begin) * 1e9);
  }
  [[nodiscard]] double mean(const std::vector<double>& sums) const {
    double ns = 0, all = 0;
    for (const double each : sums) ns += each;
    for (std::size_t i = 0; i < windows_.size(); ++i) all += length(i);
    return ns / all;
  }
  [[nodiscard]] std::size_t last_with(const std::vector<double>& sums, double least) const {
    std::size_t last = 0;
    while (last + 1 < sums.size() && sums[last] / length(last) < least) ++last;
    return last;
  }

  std::vector<Window> windows_;
  std::map<Key, std::vector<double>> sums_;
  std::map<Key, double> ended_;
};

// Whether all cgroups of a unit that are in the windows are removed.
class GoneUnits {
 public:
  explicit GoneUnits(const IsLiveCgroup& is_live) : is_live_(is_live) {}

  void add(const std::string& unit, const std::string& cgroup) {
    const bool lives = !is_live_ || !cgroup.starts_with('/') || cgroup == "/" ||
                       is_removed_series(cgroup) || is_live_(cgroup);
    bool& any = lives_.try_emplace(unit, false).first->second;
    any = any || lives;
  }
  bool operator()(const std::string& unit) const {
    const auto found = lives_.find(unit);
    return found != lives_.end() && !found->second;
  }

 private:
  const IsLiveCgroup& is_live_;
  std::map<std::string, bool> lives_;
};

}  // namespace

Source<UnitPast> past_of(const View& view, std::chrono::milliseconds window, const Liveness& now,
                         UnitNames& names) {
  Source<UnitPast> source;
  GoneUnits gone(now.is_live);
  Paces blocks, cpus;
  for_each_recent(view.site_history, window, [&](const SiteWindow& each, bool /*last*/) {
    blocks.begin_window(each.begin, each.end);
    for (const CgroupWaits& waits : each.sites) {
      const std::string& unit = names.of(*waits.cgroup);
      gone.add(unit, *waits.cgroup);
      blocks.add(unit, static_cast<std::size_t>(waits.wait_for), waits.time.ns - waits.child.ns);
    }
  });
  const std::vector<Process> ended = ended_by_now(view, now.suspended);
  if (!ended.empty()) {
    for (const SiteWaits& waits : view.waits->sites) {
      const Process process(waits.pid, waits.process_start_ns);
      if (!std::ranges::binary_search(ended, process)) continue;
      blocks.end_now(names.of(waits.cgroup), static_cast<std::size_t>(waits.wait_for),
                     waits.time.ns - waits.child.ns);
    }
  }
  for_each_recent(view.history, window, [&](const WaitStep& step, bool /*last*/) {
    cpus.begin_window(step.begin, step.end);
    const std::string* unit = nullptr;
    step.for_each(
        [&](const WaitStep::Subject& subject) {
          unit = &names.of(subject.labels->cgroup);
          gone.add(*unit, subject.labels->cgroup);
        },
        [&](const WaitStep::Wait& wait) {
          if (is_blocked_kind(wait.kind)) return;
          cpus.add(*unit, wait.kind == OFFCPUD_RUNQ_THROTTLED ? kForThrottled : kForCpu,
                   static_cast<double>(wait.waited_ns));
        },
        [](std::size_t, std::uint64_t) {});
  });
  blocks.add_past(source.rows, view.taken, gone);
  cpus.add_past(source.rows, view.taken, gone);
  source.sort();
  return source;
}

}  // namespace offcpud
