// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "mappings/mapping_event.h"
#include "mappings/perf_ring.h"

namespace offcpud {

// Executable mappings, forks, execs and exits of all processes on all CPUs, as reported by the
// kernel: side-band records of perf_event_open(2), ordered by time. Used by one thread.
//
// - open() needs CAP_PERFMON (not with kernel.perf_event_paranoid at 0 or less); nothing else does.
// - The memory counts against kernel.perf_event_mlock_kb per CPU and user, then RLIMIT_MEMLOCK.
// - Processes have the numbers of the PID namespace in which open() was called; those
//   outside of it are not seen.
// - The kernel does not report munmap(), mremap(), or mprotect() that ends the right to
//   execute. Such a mapping stays until another one takes its place; nothing executes there, so
//   nobody looks it up.
// - A CPU that comes online later is not followed, because by then the right to open a ring for it
//   is gone. has_new_cpus() finds such CPUs, and LiveMappings then reads the processes again.
class MappingEvents {
 public:
  struct Options {
    // Size per CPU: a power of two of whole pages. Halved, down to 32 KiB, if the limit on locked
    // memory does not allow it.
    std::size_t ring_bytes = std::size_t{256} * 1024;
    // fd() becomes readable when a CPU has written this much: about ten starts of a process.
    std::size_t wakeup_bytes = std::size_t{16} * 1024;
    // The kernel's list of CPUs that are online.
    std::string online_cpus = "/sys/devices/system/cpu/online";
  };

  struct Counts {
    std::uint64_t events = 0;     // passed on
    std::uint64_t malformed = 0;  // records skipped
    std::uint64_t lost = 0;       // records that found no room
  };

  static Result<MappingEvents> open(const Options& options);

  // For polling. It becomes readable only when many events wait, so also call drain() before
  // addresses are looked up, and now and then.
  [[nodiscard]] int fd() const { return epoll_.get(); }

  // Passes on everything that happened before the call, oldest first. Cause comes before effect,
  // even across CPUs. Kind::Lost means that events before it are missing. Calls `ahead` first, with
  // all events.
  void drain(const std::function<void(std::span<const MappingEvent>)>& ahead,
             const std::function<void(const MappingEvent&)>& apply);

  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t ring_bytes() const { return ring_bytes_; }

  // Whether CPUs are online now that were offline when open() was called.
  [[nodiscard]] Result<bool> has_new_cpus() const;

 private:
  MappingEvents() = default;
  Status open_rings(const std::vector<int>& cpus, const Options& options);
  // `recorded`: the losses according to the records; used if the counters cannot be read.
  [[nodiscard]] std::uint64_t newly_lost(std::uint64_t recorded) const;

  UniqueFd epoll_;
  std::string online_cpus_;
  std::vector<int> cpus_;
  std::vector<PerfRing> rings_;  // of cpus_
  std::size_t ring_bytes_ = 0;
  std::vector<MappingEvent> batch_;
  Counts counts_;
};

// Whether /proc has the process numbers of this process's PID namespace. It may be the mount of
// another one.
bool proc_has_own_numbers();

}  // namespace offcpud
