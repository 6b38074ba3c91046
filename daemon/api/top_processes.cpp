// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "api/ended_processes.h"
#include "api/top_rows.h"
#include "base/hist_kind.h"
#include "base/utc.h"

namespace offcpud {
namespace {

// Actionable waits without those for a CPU.
std::uint64_t blocked_ns(const ProcessRow& row) {
  const std::uint64_t runqueue = runqueue_ns(row.waited_ns);
  return row.actionable_ns > runqueue ? row.actionable_ns - runqueue : 0;
}

struct OldestBlock {
  std::size_t kind = 0;
  WaitAge age;  // 0 ns: none
};

// Skips idle-prone reasons: of an idle service, they would only show when it was started.
OldestBlock oldest_of(const ProcessRow& row) {
  OldestBlock oldest;
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    const WaitAge& age = row.oldest_blocked[kind];
    if (!is_idle_prone(kind) && age.ns > oldest.age.ns) oldest = {kind, age};
  }
  return oldest;
}

TopJson oldest_json(const ProcessRow& row) {
  const OldestBlock oldest = oldest_of(row);
  if (oldest.age.ns == 0) return nullptr;
  return {{"reason", kHistKindNames[oldest.kind]},
          {"seconds", in_seconds(oldest.age.ns)},
          {"estimated", oldest.age.estimated}};
}

WallTime start_of(const ProcessRow& row, const View& view, std::chrono::nanoseconds suspended) {
  const auto age = view.taken.time_since_epoch() + suspended -
                   std::chrono::nanoseconds(static_cast<std::int64_t>(row.start_ns));
  return view.taken_wall - std::chrono::duration_cast<WallTime::duration>(age);
}

TopJson oldest_by_name(const ProcessRow& row) {
  std::array<std::uint64_t, OFFCPUD_BLOCKED_KINDS> ages{};
  std::ranges::transform(row.oldest_blocked, ages.begin(), &WaitAge::ns);
  return seconds_by_name(ages, kKindNames.first(OFFCPUD_BLOCKED_KINDS));
}

TopJson process_json(const ProcessRow& row, const std::string& start) {
  TopJson json = {
      {"pid", row.pid}, {"start_time", start}, {"comm", row.comm}, {"cgroup", row.labels->cgroup}};
  if (!row.labels->unit.empty()) json["unit"] = row.labels->unit;
  json.update({{"threads", row.threads},
               {"kernel_thread", row.kernel_thread},
               {"exported", row.exported},
               {"actionable_seconds", in_seconds(row.actionable_ns)},
               {"running_seconds", in_seconds(row.running_ns)}});
  json.update(waits_json(row.waited_ns));
  json.update({{"ended", row.ended},
               {"p50_seconds", row.p50_seconds},
               {"p99_seconds", row.p99_seconds},
               {"max_seconds", row.max_seconds},
               {"oldest_blocked", oldest_json(row)},
               {"oldest_blocked_seconds", oldest_by_name(row)}});
  return json;
}

// A process, or those of one name and cgroup that have ended, and what it waited for.
struct Row {
  const ProcessRow* process = nullptr;
  const ForSums* waits = nullptr;
  double waiting = 0;     // TopSort::Waiting
  std::size_t ended = 0;  // number of ended processes; 0: a live one
};

// Among processes that wait about as long, those that wait for an answer come last: the process
// that should give it may be among the others.
bool waits_more(const Row& row, const Row& other) {
  const auto tenths = [](const Row& each) { return std::floor(each.waiting * 10 + 0.5); };
  if (tenths(row) != tenths(other)) return tenths(row) > tenths(other);
  const auto answer_ns = [](const Row& each) { return each.waits->of(WaitFor::Answer).ns; };
  if (answer_ns(row) != answer_ns(other)) return answer_ns(row) < answer_ns(other);
  return row.waiting > other.waiting;
}

bool comes_before(const Row& row, const Row& other, TopSort sort) {
  const ProcessRow& a = *row.process;
  const ProcessRow& b = *other.process;
  switch (sort) {
    case TopSort::Waiting:
      return waits_more(row, other);
    case TopSort::Unknown:
      return row.waits->unknown_ns() > other.waits->unknown_ns();
    case TopSort::Idle:
      return row.waits->idle_ns() > other.waits->idle_ns();
    case TopSort::Blocked:
      return blocked_ns(a) > blocked_ns(b);
    case TopSort::Runqueue:
      return runqueue_ns(a.waited_ns) > runqueue_ns(b.waited_ns);
    case TopSort::Running:
      return a.running_ns > b.running_ns;
    case TopSort::Oldest:
      return oldest_of(a).age.ns > oldest_of(b).age.ns;
    case TopSort::Ended:
      return a.ended > b.ended;
    case TopSort::P50:
      return a.p50_seconds > b.p50_seconds;
    case TopSort::P99:
      return a.p99_seconds > b.p99_seconds;
    case TopSort::Max:
      return a.max_seconds > b.max_seconds;
    case TopSort::Threads:
      return a.threads > b.threads;
    case TopSort::Pid:
      return a.pid < b.pid;
    case TopSort::Comm:
      return a.comm < b.comm;
    default:
      return a.actionable_ns > b.actionable_ns;
  }
}

// Without a window, by reason.
double waiting_of(const ProcessRow& row, const ForSums& waits, double window_s, double interval_s) {
  const double interval = interval_s > 0 ? interval_s : 1;
  if (window_s <= 0) return in_seconds(row.actionable_ns) / interval;
  return waits.actionable().ns * 1e-9 / window_s +
         in_seconds(runqueue_ns(row.waited_ns)) / interval;
}

}  // namespace

bool is_asked_for(const ProcessRow& process, const ForSums& waits, const TopQuery& query) {
  if (!query.admits(process.pid, process.comm, process.comm, process.labels->cgroup)) return false;
  return !query.wait_for || waits.of(*query.wait_for).ns > 0;
}

TopList top_processes(const View& view, const TopQuery& query, const ProcessWaits& waits,
                      std::chrono::nanoseconds suspended) {
  const double window_s = waits.window_seconds();
  const double interval_s = interval_seconds(view).value_or(0);
  std::vector<Row> rows;
  const auto add = [&](const ProcessRow& process, const ForSums& sums, std::size_t ended) {
    if (!is_asked_for(process, sums, query)) return;
    Row row{&process, &sums, waiting_of(process, sums, window_s, interval_s), ended};
    if (query.wait_for) row.waiting = sums.of(*query.wait_for).ns;
    rows.push_back(row);
  };
  for (const ProcessRow& process : view.processes) {
    add(process, waits.of(process.pid, process.start_ns), 0);
  }
  TopList list;
  list.matching = rows.size();
  // Of these only what the waits were for is known.
  const bool has_ended = query.sort == TopSort::Waiting || query.sort == TopSort::Unknown;
  const auto ended = has_ended ? ended_processes(view) : std::vector<EndedProcesses>();
  for (const EndedProcesses& each : ended) add(each.row, each.waits, each.count);
  sort_and_truncate(rows, query,
                    [&](const Row& a, const Row& b) { return comes_before(a, b, query.sort); });
  for (const Row& row : rows) {
    TopJson json = process_json(*row.process, rfc3339(start_of(*row.process, view, suspended)));
    json["ended_processes"] = row.ended;
    if (row.ended > 0) json["pid"] = json["start_time"] = nullptr;
    json["waits"] = row.waits->json(window_s, true, query.wait_for);
    list.rows.push_back(std::move(json));
  }
  return list;
}

}  // namespace offcpud
