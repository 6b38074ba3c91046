// SPDX-License-Identifier: Apache-2.0
#include "api/top_json.h"

#include <numeric>
#include <string_view>

#include "api/top_rows.h"
#include "base/hist_kind.h"
#include "base/utc.h"
#include "pipeline/thread_interval.h"

namespace offcpud {
namespace {

using Kinds = std::array<std::uint64_t, OFFCPUD_HIST_KINDS>;

constexpr std::span kKindNames(kHistKindNames);

std::uint64_t runqueue_ns(const Kinds& waited) {
  return std::accumulate(waited.begin() + OFFCPUD_BLOCKED_KINDS, waited.end(), std::uint64_t{0});
}

// Actionable waits without those for a CPU.
std::uint64_t blocked_ns(const ProcessRow& row) {
  const std::uint64_t runqueue = runqueue_ns(row.waited_ns);
  return row.actionable_ns > runqueue ? row.actionable_ns - runqueue : 0;
}

struct OldestBlock {
  std::size_t kind = 0;
  std::uint64_t ns = 0;  // 0: none
};

// Skips idle-prone reasons: of an idle service, they would only show when it was started.
OldestBlock oldest_of(const ProcessRow& row) {
  OldestBlock oldest;
  for (std::size_t kind = 0; kind < OFFCPUD_BLOCKED_KINDS; ++kind) {
    const std::uint64_t age = row.oldest_blocked_ns[kind];
    if (!is_idle_prone(kind) && age > oldest.ns) oldest = {kind, age};
  }
  return oldest;
}

TopJson waits_json(const Kinds& waited) {
  const std::span all(waited);
  return {{"blocked_seconds", seconds_by_name(all.first(OFFCPUD_BLOCKED_KINDS),
                                              kKindNames.first(OFFCPUD_BLOCKED_KINDS))},
          {"runqueue_seconds", seconds_by_name(all.subspan(OFFCPUD_BLOCKED_KINDS),
                                               kKindNames.subspan(OFFCPUD_BLOCKED_KINDS))}};
}

TopJson oldest_json(const ProcessRow& row) {
  const OldestBlock oldest = oldest_of(row);
  if (oldest.ns == 0) return nullptr;
  return {{"reason", kHistKindNames[oldest.kind]}, {"seconds", in_seconds(oldest.ns)}};
}

WallTime start_of(const ProcessRow& row, const View& view, std::chrono::nanoseconds suspended) {
  const auto age = view.taken.time_since_epoch() + suspended -
                   std::chrono::nanoseconds(static_cast<std::int64_t>(row.start_ns));
  return view.taken_wall - std::chrono::duration_cast<WallTime::duration>(age);
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
               {"oldest_blocked_seconds",
                seconds_by_name(row.oldest_blocked_ns, kKindNames.first(OFFCPUD_BLOCKED_KINDS))}});
  return json;
}

bool comes_before(const ProcessRow& a, const ProcessRow& b, TopSort sort) {
  switch (sort) {
    case TopSort::Blocked:
      return blocked_ns(a) > blocked_ns(b);
    case TopSort::Runqueue:
      return runqueue_ns(a.waited_ns) > runqueue_ns(b.waited_ns);
    case TopSort::Running:
      return a.running_ns > b.running_ns;
    case TopSort::Oldest:
      return oldest_of(a).ns > oldest_of(b).ns;
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

TopList top_processes(const View& view, const TopQuery& query, std::chrono::nanoseconds suspended) {
  std::vector<const ProcessRow*> rows;
  for (const ProcessRow& row : view.processes) {
    if (query.admits(row.pid, row.comm, row.comm, row.labels->cgroup)) rows.push_back(&row);
  }
  TopList list;
  list.matching = rows.size();
  sort_and_truncate(rows, query, [&](const ProcessRow* a, const ProcessRow* b) {
    return comes_before(*a, *b, query.sort);
  });
  for (const ProcessRow* row : rows) {
    list.rows.push_back(process_json(*row, rfc3339(start_of(*row, view, suspended))));
  }
  return list;
}

TopJson totals_json(const View& view) {
  Kinds waited{};
  std::uint64_t threads = 0, running = 0, actionable = 0;
  for (const ProcessRow& row : view.processes) {
    threads += row.threads;
    running += row.running_ns;
    actionable += row.actionable_ns;
    for (std::size_t kind = 0; kind < waited.size(); ++kind) waited[kind] += row.waited_ns[kind];
  }
  TopJson json = {{"processes", view.processes.size()},
                  {"threads", threads},
                  {"actionable_seconds", in_seconds(actionable)},
                  {"running_seconds", in_seconds(running)}};
  json.update(waits_json(waited));
  return json;
}

TopJson interval_json(const View& view) {
  if (!view.walk || !view.previous_walk) return nullptr;
  const std::uint64_t end = walk_end_ns(*view.walk);
  const std::uint64_t begin = walk_end_ns(*view.previous_walk);
  return end > begin ? TopJson(in_seconds(end - begin)) : TopJson(nullptr);
}

}  // namespace

std::string top_json(const View& view, const TopQuery& query, std::chrono::nanoseconds suspended) {
  TopJson json = {{"interval_seconds", interval_json(view)},
                  {"taken", rfc3339(view.taken_wall)},
                  {"totals", totals_json(view)}};
  TopList list = query.threads ? top_threads(view, query) : top_processes(view, query, suspended);
  json["matching"] = list.matching;
  json[query.threads ? "threads" : "processes"] = std::move(list.rows);
  // Not indented: a busy host has thousands of rows.
  return json.dump(-1, ' ', true, TopJson::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
