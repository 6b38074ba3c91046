// SPDX-License-Identifier: Apache-2.0
#include "kernel/disk_loads.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "kernel/map_view.h"
#include "offcpud.skel.h"
#include "peers/whole_disks.h"

namespace offcpud {
namespace {

// An entry that has not changed for this time makes room; at once, if less than half of the room is
// left.
constexpr std::chrono::minutes kIdle{10};
constexpr std::size_t kCrowded = OFFCPUD_DISK_LOADERS / 2;

DiskLoad load_of(const offcpud_disk_load& value) {
  DiskLoad load{.request_ns = value.ns};
  std::ranges::copy(value.bytes, load.bytes.begin());
  std::ranges::copy(value.requests, load.requests.begin());
  return load;
}

}  // namespace

Status DiskLoads::read(MonotonicTime now) {
  if (!session_.counts_disk_loads()) return {};
  TRY(const auto pass,
      (read_hash<offcpud_disk_loader, offcpud_disk_load>(session_.skeleton().maps.disk_loads)));
  for (auto& [key, entry] : entries_) entry.seen = false;
  for (const auto& [loader, value] : pass.entries) {
    Entry& entry = entries_[{loader.cgroup_id, loader.major, loader.minor}];
    const DiskLoad load = load_of(value);
    const DiskLoad more = increase_of(entry.load, load);
    entry.seen = true;
    if (more == DiskLoad{}) continue;
    entry.load = load;
    entry.changed = now;
    gained_.push_back({disk_name(to_valid_utf8(up_to_nul(value.disk))), loader.cgroup_id, more});
  }
  // An incomplete pass may have missed some: they are read next time.
  if (pass.complete) std::erase_if(entries_, [](const auto& each) { return !each.second.seen; });
  remove_idle(now);
  return {};
}

// What a program adds at this very moment is lost.
void DiskLoads::remove_idle(MonotonicTime now) {
  const int map = bpf_map__fd(session_.skeleton().maps.disk_loads);
  const MonotonicTime active = entries_.size() > kCrowded ? now : now - kIdle;
  std::erase_if(entries_, [&](const auto& each) {
    if (each.second.changed >= active) return false;
    const auto& [cgroup_id, major, minor] = each.first;
    const offcpud_disk_loader key{.cgroup_id = cgroup_id, .major = major, .minor = minor};
    return bpf_map_delete_elem(map, &key) == 0;
  });
}

MapUsage DiskLoads::usage() const {
  return {"disk_loads", entries_.size(), OFFCPUD_DISK_LOADERS};
}

}  // namespace offcpud
