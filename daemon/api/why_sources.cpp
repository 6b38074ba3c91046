// SPDX-License-Identifier: Apache-2.0
#include "api/why_sources.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "api/first_look.h"
#include "api/why_rows.h"
#include "attribution/subject.h"
#include "attribution/unit_names.h"
#include "base/hist_kind.h"
#include "pipeline/site_history.h"
#include "pipeline/wait_history.h"

namespace offcpud {
namespace {

constexpr const char* kNotExamined =
    "no stack was examined within the last minute, or stacks are not sampled";
constexpr const char* kNotAllowed = "this client may not see details";
constexpr const char* kLoadsNotKept = "loads of disks are not kept for a time that is over";

// `since`: how long ago the last window ended; waits that lasted then are as much older now.
void add_site(UnitSite& sum, const auto& waits, bool last, std::chrono::nanoseconds since) {
  sum.time += waits.time;
  sum.child += waits.child;
  if (!last) return;
  sum.lasting += waits.lasting;
  sum.on_sockets += waits.on_sockets;
  sum.oldest.merge(waits.oldest.after(since));
}

using SiteKey = std::tuple<std::string, WaitFor, std::string>;  // unit, what for, site

// Without the site; if there is no row for that, and even these have no room, without the unit.
SiteKey without_room(const std::map<SiteKey, UnitSite>& sums, SiteKey key) {
  std::get<2>(key).clear();
  if (sums.size() >= 2 * kMostSourceRows && !sums.contains(key)) std::get<0>(key) = kOtherCgroup;
  return key;
}

Source<UnitSite> sites_of(const View& view, const WhyQuery& query, bool details, UnitNames& names) {
  Source<UnitSite> source;
  source.missing = first_look_text(view);
  if (source.missing.empty()) source.missing = kNotExamined;
  std::map<SiteKey, UnitSite> sums;
  const auto length =
      for_each_recent(view.site_history, query.window, [&](const SiteWindow& window, bool last) {
        for (const CgroupWaits& waits : window.sites) {
          SiteKey key{names.of(*waits.cgroup), waits.wait_for,
                      details ? *waits.site : std::string()};
          if (!has_room(source, sums, key)) key = without_room(sums, std::move(key));
          UnitSite& sum = sums[key];
          std::tie(sum.unit, sum.wait_for, sum.site) = key;
          add_site(sum, waits, last, view.taken - window.end);
        }
      });
  move_rows(source, sums, length);
  if (!view.site_history.empty()) {
    const auto age = view.taken - view.site_history.back()->end;
    source.age_seconds = std::max(0.0, std::chrono::duration<double>(age).count());
  }
  return source;
}

Source<UnitCpu> cpus_of(const View& view, const WhyQuery& query, UnitNames& names) {
  Source<UnitCpu> source;
  std::map<std::string, UnitCpu> sums;
  UnitCpu* sum = nullptr;
  const auto length =
      for_each_recent(view.history, query.window, [&](const WaitStep& step, bool /*last*/) {
        step.for_each(
            [&](const WaitStep::Subject& subject) {
              const std::string& unit = names.of(subject.labels->cgroup);
              sum = &sums[unit];
              sum->unit = unit;
              sum->running_ns += static_cast<double>(subject.running_ns);
            },
            [&](const WaitStep::Wait& wait) {
              if (is_blocked_kind(wait.kind)) return;
              const auto ns = static_cast<double>(wait.waited_ns);
              (wait.kind == OFFCPUD_RUNQ_THROTTLED ? sum->throttled_ns : sum->queued_ns) += ns;
            },
            [](std::size_t, std::uint64_t) {});
      });
  move_rows(source, sums, length);
  return source;
}

}  // namespace

std::string process_subject(const ProcessRow& process) {
  return process.comm + " (pid " + std::to_string(process.pid) + ")";
}

WhyInputs why_inputs(const View& view, const WhyQuery& query, const ProcessRow* process,
                     bool details, const Liveness& now) {
  UnitNames names;
  WhyInputs inputs;
  inputs.sites = sites_of(view, query, details, names);
  inputs.cpus = cpus_of(view, query, names);
  inputs.takers = takers_of(view, query.window, names);
  inputs.past = past_of(view, query.window, now, names);
  if (details) {
    inputs.peers = peers_of(view, query.window, names);
    inputs.holders = holders_of(view, process, query.window, inputs.past, names);
    inputs.chains = chains_of(view, query.window, names);
    inputs.loads = loads_of(view, query.window, names);
    if (query.to) inputs.loads.missing = kLoadsNotKept;
    inputs.waiters = waiters_of(view, names);
    inputs.unheld = unheld_of(view, names);
    inputs.releases = releases_of(view, names);
  } else {
    inputs.peers.missing = kNotAllowed;
  }
  if (process) add_process(inputs, view, *process, names);
  return inputs;
}

}  // namespace offcpud
