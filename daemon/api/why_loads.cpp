// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "api/why_rows.h"
#include "api/why_sources.h"
#include "pipeline/disk_load.h"
#include "pipeline/taker.h"

namespace offcpud {
namespace {

UnitLoad::By kind_of(std::string_view cgroup) {
  if (cgroup == kKernelTaker) return UnitLoad::By::Kernel;
  if (cgroup == kUnknownCgroup) return UnitLoad::By::Unknown;
  if (cgroup == kOtherCgroup || cgroup == kRemovedCgroup || is_removed_series(cgroup)) {
    return UnitLoad::By::Others;
  }
  return UnitLoad::By::Unit;
}

// The devices of each disk. One that gets requests itself is not looked for in the disks below it,
// whose requests are then copies of its own.
std::map<std::string, std::vector<std::string>> devices_by_disk(const View& view) {
  std::set<std::string> loaded;
  for (const DiskLoadRow& row : *view.disk_loads) loaded.insert(row.disk);
  std::map<std::string, std::vector<std::string>> devices;
  for (const auto& [device, disks] : *view.disks) {
    if (loaded.contains(device)) {
      devices[device].push_back(device);
      continue;
    }
    for (const std::string& disk : disks) devices[disk].push_back(device);
  }
  return devices;
}

void add(UnitLoad& sum, const DiskLoad& load) {
  const auto bytes = [&](std::size_t operation) {
    return static_cast<double>(load.bytes[operation]);
  };
  sum.read_bytes += bytes(OFFCPUD_DISK_READ);
  sum.written_bytes += bytes(OFFCPUD_DISK_WRITE) + bytes(OFFCPUD_DISK_DISCARD);
  for (const std::uint64_t requests : load.requests) sum.requests += static_cast<double>(requests);
  sum.request_ns += static_cast<double>(load.request_ns);
}

}  // namespace

Source<UnitLoad> loads_of(const View& view, std::chrono::milliseconds window, UnitNames& names) {
  Source<UnitLoad> source;
  source.missing = "nobody counts that; see disk_loads in the configuration";
  if (!view.disk_loads || !view.disks) return source;
  const auto devices = devices_by_disk(view);
  std::map<std::tuple<std::string, UnitLoad::By, std::string>, UnitLoad> sums;
  const auto add_row = [&](const DiskLoadRow& row) {
    const auto found = devices.find(row.disk);
    if (found == devices.end()) return;
    const UnitLoad::By kind = kind_of(row.by->cgroup);
    const bool is_unit = kind == UnitLoad::By::Unit;
    const std::string unit = is_unit ? names.of(row.by->cgroup) : std::string();
    for (const std::string& device : found->second) {
      UnitLoad& sum = sums[{device, kind, unit}];
      sum.unit = unit;
      sum.kind = kind;
      sum.device = device;
      add(sum, row.load);
    }
  };
  const auto length = for_each_recent(
      view.disk_load_steps, window,
      [&](const DiskLoadStep& step, bool /*last*/) { std::ranges::for_each(step.rows, add_row); });
  if (length.count() == 0) source.missing = "that is not known yet";
  move_rows(source, sums, length);
  return source;
}

}  // namespace offcpud
