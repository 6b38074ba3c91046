// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "api/top_rows.h"
#include "api/why_rows.h"
#include "api/why_sources.h"
#include "base/hist_kind.h"
#include "pipeline/wait_window.h"

namespace offcpud {
namespace {

bool is_of(const auto& waits, const ProcessRow& process) {
  return waits.pid == process.pid && waits.process_start_ns == process.start_ns;
}

void add_sites(Source<UnitSite>& sites, const WaitWindow& window, double seconds,
               const ProcessRow& process, std::chrono::nanoseconds since) {
  const std::string name = process_subject(process);
  for (const SiteWaits& waits : window.sites) {
    if (!is_of(waits, process)) continue;
    sites.rows.push_back({.unit = name,
                          .wait_for = waits.wait_for,
                          .site = waits.site,
                          .time = scaled(waits.time, sites.seconds / seconds),
                          .child = scaled(waits.child, sites.seconds / seconds),
                          .lasting = waits.lasting,
                          .on_sockets = waits.on_sockets,
                          .oldest = waits.oldest.after(since)});
  }
}

void add_peers(Source<UnitPeer>& peers, const WaitWindow& window, double seconds,
               const ProcessRow& process, UnitNames& names) {
  using Key = std::tuple<WaitFor, UnitPeer::On, std::string, std::uint32_t>;
  std::map<Key, UnitPeer> sums;
  for (const PeerWaits& waits : window.peers) {
    if (!is_of(waits, process)) continue;
    UnitPeer row = peer_on(waits.on, names);
    row.unit = process_subject(process);
    row.wait_for = waits.wait_for;
    row.process = waits.peer_comm;
    row.pid = waits.peer_pid;
    UnitPeer& sum = sums[{row.wait_for, row.kind, row.on, row.pid}];
    const WaitTime before = sum.time, children = sum.child;
    sum = std::move(row);
    sum.time = before;
    sum.child = children;
    sum.time += scaled(waits.time, peers.seconds / seconds);
    sum.child += scaled(waits.child, peers.seconds / seconds);
  }
  for (auto& [key, row] : sums) peers.rows.push_back(std::move(row));
}

void add_cpu(WhyInputs& inputs, double seconds, const ProcessRow& process, UnitNames& names) {
  UnitCpu cpu{.unit = process_subject(process)};
  const double scale = inputs.cpus.seconds / seconds;
  cpu.running_ns = scale * static_cast<double>(process.running_ns);
  for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
    if (is_blocked_kind(kind)) continue;
    const double ns = scale * static_cast<double>(process.waited_ns[kind]);
    (kind == OFFCPUD_RUNQ_THROTTLED ? cpu.throttled_ns : cpu.queued_ns) += ns;
  }
  if (inputs.takers.known() && cpu.queued_ns > 0) {
    inputs.takers.rows.push_back(
        {.unit = cpu.unit,
         .kind = UnitTaker::By::Unknown,
         .because = "who had it is counted by unit; ask for " + names.of(process.labels->cgroup),
         .ns = cpu.queued_ns * inputs.takers.seconds / inputs.cpus.seconds});
  }
  inputs.cpus.rows.push_back(std::move(cpu));
}

}  // namespace

void add_process(WhyInputs& inputs, const View& view, const ProcessRow& process, UnitNames& names) {
  inputs.process = process_subject(process);
  inputs.unit_of_process = names.of(process.labels->cgroup);
  if (view.waits) {
    const double seconds =
        std::chrono::duration<double>(view.waits->end_at - view.waits->begin_at).count();
    if (seconds > 0) {
      add_sites(inputs.sites, *view.waits, seconds, process, view.taken - view.waits->end_at);
      add_peers(inputs.peers, *view.waits, seconds, process, names);
      add_process_chains(inputs, *view.waits, seconds, process, names);
    }
  }
  const double interval = interval_seconds(view).value_or(0);
  if (interval > 0 && inputs.cpus.known()) add_cpu(inputs, interval, process, names);
  inputs.sites.sort();
  inputs.peers.sort();
  inputs.cpus.sort();
  inputs.takers.sort();
}

}  // namespace offcpud
