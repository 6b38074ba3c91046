// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "api/why_rows.h"
#include "api/why_sources.h"
#include "pipeline/view.h"
#include "pipeline/wait_window.h"

namespace offcpud {
namespace {

constexpr double kNearlyAll = 0.9;  // of what a unit waited for something

struct Waiters {
  double all_ns = 0;
  std::map<std::string, double> by_name;
  std::map<std::uint32_t, double> by_pid;
};

template <class Key>
const std::pair<const Key, double>& largest(const std::map<Key, double>& sums) {
  return *std::ranges::max_element(sums, {}, [](const auto& each) { return each.second; });
}

}  // namespace

// The name of a unit mostly says which program it runs; then the process is not told.
Source<UnitWaiter> waiters_of(const View& view, UnitNames& names) {
  Source<UnitWaiter> source;
  if (!view.waits) return source;
  std::map<std::uint32_t, std::string> comms;
  for (const ProcessRow& row : view.processes) comms.emplace(row.pid, row.comm);
  std::map<std::pair<std::string, WaitFor>, Waiters> sums;
  for (const SiteWaits& waits : view.waits->sites) {
    const double ns = waits.time.ns - waits.child.ns;
    // The window does not have the name of a process whose waits all last.
    const auto live = comms.find(waits.pid);
    const std::string& comm = waits.comm.empty() && live != comms.end() ? live->second : waits.comm;
    if (ns <= 0 || comm.empty()) continue;
    Waiters& sum = sums[{names.of(waits.cgroup), waits.wait_for}];
    sum.all_ns += ns;
    sum.by_name[comm] += ns;
    sum.by_pid[waits.pid] += ns;
  }
  for (const auto& [key, sum] : sums) {
    const auto& [name, name_ns] = largest(sum.by_name);
    const auto& [pid, pid_ns] = largest(sum.by_pid);
    const bool one_name = name_ns >= kNearlyAll * sum.all_ns;
    if (one_name && key.first.find(name) != std::string::npos) continue;
    source.rows.push_back({.unit = key.first,
                           .wait_for = key.second,
                           .process = one_name ? name : name + " and others",
                           .pid = pid_ns >= kNearlyAll * sum.all_ns ? pid : 0});
  }
  source.sort();
  return source;
}

Source<UnitUnheld> unheld_of(const View& view, UnitNames& names) {
  Source<UnitUnheld> source;
  if (!view.waits) return source;
  std::map<std::pair<std::string, bool>, UnitUnheld> sums;  // by unit, and whether of the GIL
  const auto sum_of = [&](const std::string& cgroup, bool is_gil) -> UnitUnheld& {
    const std::string& unit = names.of(cgroup);
    UnitUnheld& sum = sums[{unit, is_gil}];
    sum.unit = unit;
    sum.is_gil = is_gil;
    return sum;
  };
  for (const UnheldWaits& waits : view.waits->unheld) {
    UnitUnheld& sum = sum_of(waits.cgroup, waits.is_gil);
    sum.names_nobody += waits.names_nobody;
    sum.changes_hands += waits.changes_hands;
    sum.seen_once += waits.seen_once;
    sum.no_single_holder += waits.no_single_holder;
  }
  for (const EndedWaits& ended : view.waits->ended) {
    if (ended.wait_for != WaitFor::Lock) continue;
    UnitUnheld& sum = sum_of(ended.cgroup, false);
    for (const WaitEstimate::Slot& slot : ended.waits.slots) sum.ended += slot.waits;
  }
  move_rows(source, sums, view.waits->end_at - view.waits->begin_at);
  return source;
}

}  // namespace offcpud
