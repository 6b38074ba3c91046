// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "mappings/mapping_event.h"
#include "mappings/perf_ring.h"

namespace offcpud {

// The kernel's account of executable mappings, forks, execs and exits of all processes on all CPUs:
// side-band records of perf_event_open(2), ordered by time. Used by one thread.
//
// - Needs CAP_PERFMON in open() only (with kernel.perf_event_paranoid 0 or less not even that).
// - The memory counts against kernel.perf_event_mlock_kb per CPU and user, then RLIMIT_MEMLOCK.
// - Processes are numbered as in the PID namespace of the caller of open(); those outside of it are
//   not seen.
// - The kernel does not tell of munmap(), of mprotect() that takes the right to execute away and of
//   mremap(). A mapping that is gone stays until another one is put in its place: nothing executes
//   there, so nothing asks for it.
// - A CPU that comes online later is not followed; uncovered_cpus() counts them.
class MappingEvents {
 public:
  struct Options {
    // Of one CPU, a power of two of whole pages. Halved down to 32 KiB where the limit on locked
    // memory does not allow it.
    std::size_t ring_bytes = std::size_t{256} * 1024;
    // fd() becomes readable when a CPU has written this much: some ten starts of a process.
    std::size_t wakeup_bytes = std::size_t{16} * 1024;
  };

  struct Counts {
    std::uint64_t events = 0;     // handed over
    std::uint64_t malformed = 0;  // records left out
    std::uint64_t lost = 0;       // records that found no room in a ring
  };

  static Result<MappingEvents> open(const Options& options);

  // To poll for reading. It wakes only when there is a lot: drain() whenever addresses are about
  // to be looked up, and now and then.
  [[nodiscard]] int fd() const { return epoll_.get(); }

  // Hands over everything that happened before the call, oldest first; what follows from one
  // another is in order also across CPUs. Kind::Lost tells that events are missing before it.
  // `ahead` is called first, with all of them.
  void drain(const std::function<void(std::span<const MappingEvent>)>& ahead,
             const std::function<void(const MappingEvent&)>& apply);

  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t ring_bytes() const { return ring_bytes_; }

  // CPUs that are online now and had no ring when the others were opened.
  [[nodiscard]] Result<std::size_t> uncovered_cpus() const;

 private:
  MappingEvents() = default;
  Status open_rings(const std::vector<int>& cpus, const Options& options);
  // `recorded` is what the records of losses say, in case that the counters cannot be read.
  [[nodiscard]] std::uint64_t newly_lost(std::uint64_t recorded) const;

  UniqueFd epoll_;
  std::vector<int> cpus_;
  std::vector<PerfRing> rings_;  // of cpus_
  std::size_t ring_bytes_ = 0;
  std::vector<MappingEvent> batch_;
  Counts counts_;
};

// Whether /proc numbers processes as this one's PID namespace does: it may have been mounted in
// another one.
bool proc_has_own_numbers();

}  // namespace offcpud
