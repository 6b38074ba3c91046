// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "api/why_sources.h"
#include "pipeline/wait_window.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

constexpr std::string_view kRemote = "remote:", kDevice = "device:";

using Key = std::tuple<std::string, WaitFor, std::string>;  // unit, what for, on

struct On {
  UnitPeer::On kind = UnitPeer::On::Unknown;
  std::string name;
};

On on_of(std::string_view on, UnitNames& names) {
  if (on.starts_with(kRemote)) {
    return {UnitPeer::On::Remote, std::string(on.substr(kRemote.size()))};
  }
  if (on.starts_with(kDevice)) {
    return {UnitPeer::On::Device, std::string(on.substr(kDevice.size()))};
  }
  if (on == "(nobody)") return {UnitPeer::On::Nobody, {}};
  if (on == kOtherCgroup) return {UnitPeer::On::Others, {}};
  if (on == kUnknownCgroup || on.empty()) return {};
  return {UnitPeer::On::Unit, on.starts_with('/') ? names.of(on) : std::string(on)};
}

// The process of the last window that a unit waited on most, by what for and on.
std::map<Key, const PeerWaits*> processes_of(const View& view, UnitNames& names) {
  std::map<Key, const PeerWaits*> processes;
  if (!view.waits) return processes;
  for (const PeerWaits& waits : view.waits->peers) {
    if (waits.peer_comm.empty()) continue;
    const PeerWaits*& most = processes[{names.of(waits.cgroup), waits.wait_for, waits.on}];
    if (!most || waits.time.ns > most->time.ns) most = &waits;
  }
  return processes;
}

}  // namespace

Source<UnitPeer> peers_of(const View& view, std::chrono::milliseconds window, UnitNames& names) {
  Source<UnitPeer> source;
  source.missing = "whom threads wait on is not known yet";
  const auto processes = processes_of(view, names);
  std::map<Key, UnitPeer> sums;
  std::chrono::nanoseconds covered{0};
  for (auto each = view.peer_history.rbegin();
       each != view.peer_history.rend() && covered < window; ++each) {
    for (const PeerWindow::Row& row : (*each)->rows) {
      const std::string& unit = names.of(row.cgroup);
      const Key key{unit, row.wait_for, row.on};
      UnitPeer& sum = sums[key];
      if (sum.unit.empty()) {
        const On on = on_of(row.on, names);
        sum = {.unit = unit, .wait_for = row.wait_for, .kind = on.kind, .on = on.name};
        const auto process = processes.find(key);
        if (process != processes.end()) {
          sum.process = process->second->peer_comm;
          sum.pid = process->second->peer_pid;
        }
      }
      sum.time += row.time;
    }
    covered += (*each)->end - (*each)->begin;
  }
  for (auto& [key, row] : sums) source.rows.push_back(std::move(row));
  source.sort();
  source.seconds = std::chrono::duration<double>(covered).count();
  return source;
}

}  // namespace offcpud
