// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>

#include "api/why_sources.h"
#include "base/duration_text.h"
#include "pipeline/disk_loads.h"
#include "pipeline/lock_holder.h"
#include "why/cause.h"

namespace offcpud {
namespace {

std::string_view why_text(NoHolder why) {
  switch (why) {
    case NoHolder::NotRead: return "its memory was not read in time";
    case NoHolder::Moved: return "the thread moved on while it was looked at";
    case NoHolder::NoOwner: return "nothing in such a lock says who holds it";
    case NoHolder::Free: return "it was changing hands when it was looked at";
    case NoHolder::Readers: return "readers hold it, and they leave no name";
    case NoHolder::Shared: return "it is shared between processes";
    case NoHolder::Gone: return "its holder has ended";
    case NoHolder::Restarted: return "a signal interrupted the call";
    case NoHolder::SeenOnce: return "its holder was seen only once so far";
    case NoHolder::Several: return "several hold it";
    case NoHolder::None: break;
  }
  return "its holder is not known";
}

// "runs", "waits for an answer for 3.2 s"
std::string deed_of(const Holder& holder) {
  const std::string age =
      holder.age.ns > 0
          ? " for " + duration_text(std::chrono::nanoseconds(
                          static_cast<std::int64_t>(holder.age.ns)))
          : "";
  switch (holder.state) {
    case OFFCPUD_THREAD_RUNNING: return "it runs" + age;
    case OFFCPUD_THREAD_RUNNABLE: return "it waits for a CPU" + age;
    case OFFCPUD_THREAD_BLOCKED: break;
    default: return {};
  }
  if (!holder.wait) return "it waits" + age;
  return "it waits " +
         std::string(words_of_for(static_cast<std::size_t>(holder.wait->wait_for))) + age;
}

std::string name_of_holder(const Holder& holder) {
  return holder.process_comm.empty() ? holder.comm : holder.process_comm;
}

UnitHolder row_of(const LockWait& wait, UnitNames& names) {
  UnitHolder row{.unit = names.of(wait.labels->cgroup),
                 .lock = std::string(name_of(wait.lock)),
                 .deadlocked = wait.deadlocked};
  if (wait.known == LockWait::Known::No || !wait.holder) {
    row.why = why_text(wait.why);
    return row;
  }
  row.known = wait.known == LockWait::Known::Named ? UnitHolder::Known::Named
                                                   : UnitHolder::Known::InTurn;
  // At the end of a chain of holders is who is to blame.
  const Holder& blamed = wait.root && !wait.deadlocked ? *wait.root : *wait.holder;
  row.holder_unit = names.of(blamed.labels->cgroup);
  row.holder_process = name_of_holder(blamed);
  row.holder_pid = blamed.local_tgid;
  row.holder_does = deed_of(blamed);
  const bool chained = blamed.tid != wait.holder->tid || blamed.tgid != wait.holder->tgid;
  if (chained) row.holder_does = "at the end of a chain of holders; " + row.holder_does;
  return row;
}

}  // namespace

Source<UnitHolder> holders_of(const View& view, std::chrono::milliseconds window,
                              UnitNames& names) {
  Source<UnitHolder> source;
  source.missing = "who holds locks is not looked at";
  if (!view.holders) return source;
  source.seconds = std::chrono::duration<double>(window).count();
  std::map<std::tuple<std::string, UnitHolder::Known, std::string, std::uint32_t, bool>, UnitHolder>
      sums;
  const auto now_ns = static_cast<std::uint64_t>(view.taken.time_since_epoch().count());
  const auto most_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(window).count());
  for (const LockWait& wait : view.holders->waits) {
    UnitHolder row = row_of(wait, names);
    const std::string& whom = row.known == UnitHolder::Known::No ? row.why : row.holder_unit;
    UnitHolder& sum = sums[{row.unit, row.known, whom, row.holder_pid, row.deadlocked}];
    if (sum.threads == 0) sum = std::move(row);
    const std::uint64_t age = now_ns - std::min(now_ns, wait.waiter.since_ns);
    ++sum.threads;
    sum.ns += static_cast<double>(std::min(age, most_ns));
    sum.oldest.merge({.ns = age});
  }
  for (auto& [key, row] : sums) source.rows.push_back(std::move(row));
  source.sort();
  return source;
}

Source<DeviceUse> devices_of(const View& view, UnitNames& names) {
  Source<DeviceUse> source;
  source.missing = "cgroups do not count what they read and write (io.stat)";
  if (!view.disk_loads) return source;
  source.seconds = view.disk_loads->seconds;
  std::map<std::pair<std::string, std::string>, DeviceUse> sums;
  for (const DiskLoad& disk : view.disk_loads->disks) {
    std::vector<std::string> devices = disk.partitions;
    devices.push_back(disk.name.empty() ? disk.number : disk.name);
    for (const std::string& device : devices) {
      for (const CgroupDiskLoad& load : disk.cgroups) {
        const std::string& unit = names.of(load.cgroup);
        DeviceUse& use = sums[{device, unit}];
        use.device = device;
        use.unit = unit;
        use.bytes += static_cast<double>(load.counts.bytes());
        use.operations += static_cast<double>(load.counts.requests());
      }
    }
  }
  for (auto& [key, row] : sums) source.rows.push_back(std::move(row));
  source.sort();
  return source;
}

}  // namespace offcpud
