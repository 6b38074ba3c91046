// SPDX-License-Identifier: Apache-2.0
#include "api/top_json.h"

#include <map>
#include <utility>

#include "api/top_rows.h"
#include "base/utc.h"
#include "pipeline/thread_interval.h"

namespace offcpud {
namespace {

// Of the processes for which `counts`, whose waits add up to `waits`.
template <class Counts>
TopJson totals_json(const View& view, const ForSums& waits, double window_s, Counts counts) {
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> waited{};
  std::uint64_t processes = 0, threads = 0, running = 0, actionable = 0;
  for (const ProcessRow& row : view.processes) {
    if (!counts(row)) continue;
    ++processes;
    threads += row.threads;
    running += row.running_ns;
    actionable += row.actionable_ns;
    for (std::size_t kind = 0; kind < waited.size(); ++kind) waited[kind] += row.waited_ns[kind];
  }
  TopJson json = {{"processes", processes},
                  {"threads", threads},
                  {"actionable_seconds", in_seconds(actionable)},
                  {"running_seconds", in_seconds(running)}};
  json.update(waits_json(waited));
  json["waits"] = waits.json(window_s, true);
  return json;
}

TopJson totals_of_all(const View& view, const ProcessWaits& waits) {
  TopJson json = totals_json(view, waits.total(), waits.window_seconds(),
                             [](const ProcessRow&) { return true; });
  json["unusual"] = view.tells_unusual ? TopJson(view.unusual.size()) : TopJson(nullptr);
  return json;
}

TopJson totals_of_selected(const View& view, const ProcessWaits& waits, const TopQuery& query) {
  return totals_json(view, waits.selected(query), waits.window_seconds(),
                     [&](const ProcessRow& row) {
                       return is_asked_for(row, waits.of(row.pid, row.start_ns), query);
                     });
}

// Whether the query selects by what processes are, so that all threads of one match or none.
bool selects_processes(const TopQuery& query) {
  if (!query.threads) return true;
  const bool selects = query.pid || !query.cgroup.is_all();
  const bool of_threads =
      query.cpu || query.pinned || query.wait_for || !query.comm.empty() || !query.filter.empty();
  return selects && !of_threads;
}

// Of what `waits` in totals and rows are the means.
TopJson window_json(const View& view) {
  if (!view.waits) return nullptr;
  return {{"seconds", in_seconds(view.waits->end_at - view.waits->begin_at)},
          {"age_seconds", in_seconds(view.taken - view.waits->end_at)}};
}

}  // namespace

ProcessWaits::ProcessWaits(const View& view) : view_(view) {
  if (!view.waits) return;
  const WaitWindow& window = *view.waits;
  window_seconds_ = std::chrono::duration<double>(window.end_at - window.begin_at).count();
  for (const SiteWaits& waits : window.sites) {
    processes_[{waits.pid, waits.process_start_ns}].add(waits, true);
    total_.add(waits, true);
  }
  total_.add_unknown(static_cast<double>(window.lost_within_ns));
}

const ForSums& ProcessWaits::of(std::uint32_t pid, std::uint64_t start_ns) const {
  static const ForSums nothing;
  const auto found = processes_.find({pid, start_ns});
  return found != processes_.end() ? found->second : nothing;
}

ForSums ProcessWaits::selected(const TopQuery& query) const {
  ForSums sum;
  if (!view_.waits) return sum;
  std::map<std::pair<std::uint32_t, std::uint64_t>, bool> asked_for;
  for (const ProcessRow& row : view_.processes) {
    asked_for[{row.pid, row.start_ns}] = is_asked_for(row, of(row.pid, row.start_ns), query);
  }
  for (const SiteWaits& waits : view_.waits->sites) {
    const auto row = asked_for.find({waits.pid, waits.process_start_ns});
    const bool is_wanted = !query.wait_for || waits.wait_for == *query.wait_for;
    const bool counts =
        row != asked_for.end()
            ? row->second
            : is_wanted && query.admits(waits.pid, waits.comm, waits.comm, waits.cgroup);
    if (counts) sum.add(waits, true);
  }
  return sum;
}

std::optional<double> interval_seconds(const View& view) {
  if (!view.walk || !view.previous_walk) return std::nullopt;
  const std::uint64_t end = walk_end_ns(*view.walk);
  const std::uint64_t begin = walk_end_ns(*view.previous_walk);
  return end > begin ? std::optional(in_seconds(end - begin)) : std::nullopt;
}

std::string top_json(const View& view, const TopQuery& query, std::chrono::nanoseconds suspended) {
  const ProcessWaits waits(view);
  const auto interval = interval_seconds(view);
  TopJson json = {{"interval_seconds", interval ? TopJson(*interval) : TopJson(nullptr)},
                  {"taken", rfc3339(view.taken_wall)},
                  {"window", window_json(view)},
                  {"totals", totals_of_all(view, waits)}};
  if (query.wait_for) json["for"] = name_of(*query.wait_for);
  TopList list = query.threads ? top_threads(view, query, waits)
                               : top_processes(view, query, waits, suspended);
  json["matching"] = list.matching;
  const bool is_all = !query.threads && list.matching == view.processes.size();
  if (selects_processes(query) && !is_all) {
    json["selected"] = totals_of_selected(view, waits, query);
  }
  json[query.threads ? "threads" : "processes"] = std::move(list.rows);
  // Not indented: a busy host has thousands of rows.
  return json.dump(-1, ' ', true, TopJson::error_handler_t::replace) + '\n';
}

}  // namespace offcpud
