// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "api/why_rows.h"
#include "api/why_sources.h"
#include "pipeline/wait_window.h"
#include "pipeline/waited_on.h"

namespace offcpud {
namespace {

// See PeerWaits::on.
constexpr std::string_view kRemote = "remote:", kDevice = "device:", kNobody = "(nobody)";

using PeerKey = std::tuple<std::string, WaitFor, std::string>;  // unit, what for, on

// The process of the last window that a unit waited on most, by what for and on.
std::map<PeerKey, const PeerWaits*> processes_of(const View& view, UnitNames& names) {
  std::map<PeerKey, const PeerWaits*> processes;
  if (!view.waits) return processes;
  for (const PeerWaits& waits : view.waits->peers) {
    if (waits.peer_comm.empty()) continue;
    const PeerWaits*& most = processes[{names.of(waits.cgroup), waits.wait_for, waits.on}];
    if (!most || waits.time.ns > most->time.ns) most = &waits;
  }
  return processes;
}

}  // namespace

UnitPeer peer_on(std::string_view on, UnitNames& names) {
  UnitPeer peer;
  if (on.starts_with(kRemote)) {
    peer.kind = UnitPeer::On::Remote;
    peer.on = on.substr(kRemote.size());
  } else if (on.starts_with(kDevice)) {
    peer.kind = UnitPeer::On::Device;
    peer.on = on.substr(kDevice.size());
  } else if (on == kNobody) {
    peer.kind = UnitPeer::On::Nobody;
  } else if (on == kOtherCgroup) {
    peer.kind = UnitPeer::On::Others;
  } else if (on != kUnknownCgroup && !on.empty()) {
    peer.kind = UnitPeer::On::Unit;
    peer.on = on.starts_with('/') ? names.of(on) : std::string(on);
  }
  return peer;
}

Source<UnitPeer> peers_of(const View& view, std::chrono::milliseconds window, UnitNames& names) {
  Source<UnitPeer> source;
  source.missing = "whom threads wait on is not known yet";
  const auto processes = processes_of(view, names);
  std::map<PeerKey, UnitPeer> sums;
  const auto add = [&](const PeerWindow::Row& row) {
    const std::string& unit = names.of(row.cgroup);
    PeerKey key{unit, row.wait_for, row.on};
    if (!has_room(source, sums, key)) std::get<2>(key) = kOtherCgroup;
    const auto [sum, is_new] = sums.try_emplace(key);
    if (is_new) {
      sum->second = peer_on(std::get<2>(key), names);
      sum->second.unit = unit;
      sum->second.wait_for = row.wait_for;
      const auto process = processes.find(key);
      if (process != processes.end()) {
        sum->second.process = process->second->peer_comm;
        sum->second.pid = process->second->peer_pid;
      }
    }
    sum->second.time += row.time;
    sum->second.child += row.child;
  };
  const auto length =
      for_each_recent(view.peer_history, window, [&](const PeerWindow& each, bool /*last*/) {
        for (const PeerWindow::Row& row : each.rows) add(row);
      });
  move_rows(source, sums, length);
  return source;
}

}  // namespace offcpud
