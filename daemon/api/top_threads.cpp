// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <string>

#include "api/top_rows.h"
#include "base/hist_kind.h"
#include "base/text.h"
#include "pipeline/thread_interval.h"

namespace offcpud {
namespace {

struct ThreadRow {
  const offcpud_thread* record;
  const ProcessRow* process;  // null: it has none, for example because the thread has ended since
  std::string comm;
  ThreadInterval interval;
  std::uint64_t blocked_ns = 0, runqueue_ns = 0;  // actionable, within the interval
  std::uint64_t kept_off_ns = 0;
  std::shared_ptr<const ExaminedWait>
      wait{};             // what its block is for; null: not blocked, not known
  double waiting_ns = 0;  // TopSort::Waiting
};

ThreadRow row_of(const offcpud_thread* before, const offcpud_thread& now, const ProcessRow* process,
                 std::uint64_t begin_ns) {
  ThreadRow row{.record = &now, .process = process, .comm = comm_text(now.comm)};
  if (begin_ns == 0) return row;  // the first walk: there is no interval yet
  row.interval = thread_interval(before, now, begin_ns);
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    if (!is_actionable(kind)) continue;
    (is_blocked_kind(kind) ? row.blocked_ns : row.runqueue_ns) += row.interval.waited_ns[kind];
  }
  row.blocked_ns -= waited_for_work_ns(now, row.interval, before && is_idle(*before));
  for (const std::uint64_t ns : row.interval.kept_off_ns) row.kept_off_ns += ns;
  return row;
}

// What the thread's present block is for.
std::shared_ptr<const ExaminedWait> wait_of(const View& view, const offcpud_thread& thread) {
  if (!view.waits || thread.state != OFFCPUD_THREAD_BLOCKED) return nullptr;
  const bool estimated = (thread.flags & OFFCPUD_THREAD_ESTIMATED) != 0;
  return view.waits->find(thread.tid, thread.since_ns, estimated);
}

// Sums of single threads are by reason only. So the lasting block counts by what it is for, and
// ended blocks by their reasons, up to what the process waits by what waits are for.
double waiting_ns_of(const ThreadRow& row, const ProcessWaits& waits, double interval_ns) {
  double blocked_ns = static_cast<double>(row.blocked_ns);
  if (row.wait) {
    const auto lasting_ns = static_cast<double>(row.interval.in_progress_ns);
    const bool counted = is_actionable(row.record->kind);
    const bool counts = actionable(row.wait->wait_for) && row.record->kind != OFFCPUD_BLOCKED_CHILD;
    if (counted && !counts) blocked_ns = std::max(0.0, blocked_ns - lasting_ns);
    if (!counted && counts) blocked_ns += lasting_ns;
  }
  if (waits.window_seconds() > 0) {
    const ForSums& process = waits.of(row.record->local_tgid, row.record->process_start_ns);
    const double share = process.actionable().ns * 1e-9 / waits.window_seconds();
    blocked_ns = std::min(blocked_ns, share * interval_ns);
  }
  return blocked_ns + static_cast<double>(row.runqueue_ns);
}

const char* state_name(std::uint32_t state) {
  switch (state) {
    case OFFCPUD_THREAD_RUNNING:
      return "running";
    case OFFCPUD_THREAD_RUNNABLE:
      return "runnable";
    default:
      return "blocked";
  }
}

TopJson state_age_json(const offcpud_thread& record) {
  const bool unknown = (record.flags & OFFCPUD_THREAD_UNKNOWN) != 0 || record.since_ns == 0;
  return unknown ? TopJson(nullptr) : TopJson(in_seconds(age_ns(record)));
}

TopJson taker_json(std::uint32_t tid, const char (&comm)[OFFCPUD_COMM]) {
  if (tid == 0) return nullptr;
  return {{"tid", tid}, {"comm", comm_text(comm)}};
}

TopJson longest_wait_json(const offcpud_thread& record) {
  if (record.longest_wait_ns == 0) return nullptr;
  return {{"seconds", in_seconds(record.longest_wait_ns)},
          {"taker", taker_json(record.longest_taker_tid, record.longest_taker_comm)}};
}

TopJson thread_json(const ThreadRow& row) {
  const offcpud_thread& record = *row.record;
  const std::span waited(row.interval.waited_ns);
  const std::array<std::uint64_t, OFFCPUD_TAKERS> kept_off = {
      record.kept_off_ns[OFFCPUD_BY_SAME_CGROUP], record.kept_off_ns[OFFCPUD_BY_OTHER_CGROUP],
      record.kept_off_ns[OFFCPUD_BY_KERNEL]};
  TopJson json = {{"tid", record.local_tid}, {"pid", record.local_tgid}, {"comm", row.comm}};
  if (row.process) {
    const SubjectLabels& labels = *row.process->labels;
    json["cgroup"] = labels.cgroup;
    if (!labels.unit.empty()) json["unit"] = labels.unit;
  }
  json.update({{"cpu", record.cpu},
               {"pinned", (record.flags & OFFCPUD_THREAD_PINNED) != 0},
               {"state", state_name(record.state)}});
  if (is_waiting(record)) {
    json[record.state == OFFCPUD_THREAD_BLOCKED ? "reason" : "cause"] = kHistKindNames[record.kind];
  }
  if (row.wait) {
    json["for"] = name_of(row.wait->wait_for);
    json["site"] = row.wait->site.empty() ? TopJson(nullptr) : TopJson(row.wait->site);
  }
  json.update({{"state_seconds", state_age_json(record)},
               {"state_estimated", (record.flags & OFFCPUD_THREAD_ESTIMATED) != 0},
               {"waiting_seconds", row.waiting_ns * 1e-9},
               {"actionable_seconds", in_seconds(row.blocked_ns + row.runqueue_ns)},
               {"running_seconds", in_seconds(row.interval.running_ns)},
               {"blocked_seconds", seconds_by_name(waited.first(OFFCPUD_BLOCKED_KINDS),
                                                   kKindNames.first(OFFCPUD_BLOCKED_KINDS))},
               {"runqueue_seconds", seconds_by_name(waited.subspan(OFFCPUD_BLOCKED_KINDS),
                                                    kKindNames.subspan(OFFCPUD_BLOCKED_KINDS))},
               {"kept_off_seconds", seconds_by_name(row.interval.kept_off_ns, kTakerNames)},
               {"kept_off_total_seconds", seconds_by_name(kept_off, kTakerNames)},
               {"last_taker", taker_json(record.taker_tid, record.taker_comm)},
               {"longest_wait", longest_wait_json(record)}});
  return json;
}

bool comes_before(const ThreadRow& a, const ThreadRow& b, TopSort sort) {
  switch (sort) {
    case TopSort::Blocked:
      return a.blocked_ns > b.blocked_ns;
    case TopSort::Runqueue:
      return a.runqueue_ns > b.runqueue_ns;
    case TopSort::Running:
      return a.interval.running_ns > b.interval.running_ns;
    case TopSort::Oldest:
      return age_ns(*a.record) > age_ns(*b.record);
    case TopSort::KeptOff:
      return a.kept_off_ns > b.kept_off_ns;
    case TopSort::Longest:
      return a.record->longest_wait_ns > b.record->longest_wait_ns;
    case TopSort::Tid:
      return a.record->local_tid < b.record->local_tid;
    case TopSort::Cpu:
      return a.record->cpu < b.record->cpu;
    case TopSort::Pid:
      return a.record->local_tgid < b.record->local_tgid;
    case TopSort::Comm:
      return a.comm < b.comm;
    case TopSort::Actionable:
      return a.blocked_ns + a.runqueue_ns > b.blocked_ns + b.runqueue_ns;
    default:
      return a.waiting_ns > b.waiting_ns;
  }
}

bool is_asked_for(const ThreadRow& row, const TopQuery& query) {
  const offcpud_thread& record = *row.record;
  if (query.wait_for && (!row.wait || row.wait->wait_for != *query.wait_for)) return false;
  if (query.cpu && *query.cpu != record.cpu) return false;
  if (query.pinned && (record.flags & OFFCPUD_THREAD_PINNED) == 0) return false;
  return query.admits(record.local_tgid, row.comm, row.process ? row.process->comm : row.comm,
                      row.process ? row.process->labels->cgroup : std::string());
}

}  // namespace

TopList top_threads(const View& view, const TopQuery& query, const ProcessWaits& waits) {
  TopList list;
  if (!view.walk) return list;
  std::map<std::pair<std::uint32_t, std::uint64_t>, const ProcessRow*> processes;
  for (const ProcessRow& row : view.processes) processes[{row.pid, row.start_ns}] = &row;
  const std::uint64_t begin_ns = view.previous_walk ? walk_begin_ns(*view.previous_walk) : 0;

  const double interval_ns = interval_seconds(view).value_or(0) * 1e9;

  std::vector<ThreadRow> rows;
  const WalkPairing walks(view.previous_walk.get(), *view.walk);
  walks.for_each([&](const offcpud_thread* before, const offcpud_thread* now) {
    if (!now || now->state == OFFCPUD_THREAD_ENDED) return;
    const auto process = processes.find({now->local_tgid, now->process_start_ns});
    ThreadRow row =
        row_of(before, *now, process != processes.end() ? process->second : nullptr, begin_ns);
    row.wait = wait_of(view, *now);
    row.waiting_ns = waiting_ns_of(row, waits, interval_ns);
    if (is_asked_for(row, query)) rows.push_back(std::move(row));
  });
  list.matching = rows.size();
  sort_and_truncate(rows, query, [&](const ThreadRow& a, const ThreadRow& b) {
    return comes_before(a, b, query.sort);
  });
  for (const ThreadRow& row : rows) list.rows.push_back(thread_json(row));
  return list;
}

}  // namespace offcpud
