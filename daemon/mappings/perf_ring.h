// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_handle.h"
#include "mappings/mapping_event.h"
#include "mappings/perf_records.h"

namespace offcpud {

// The events of one CPU, and the memory into which the kernel writes them. Used by one thread.
class PerfRing {
 public:
  // `ring_bytes` is a power of two of whole pages; the descriptor becomes readable when
  // `wakeup_bytes` are filled. Needs CAP_PERFMON, unless perf_event_paranoid is 0 or less.
  static Result<PerfRing> open(int cpu, std::size_t ring_bytes, std::size_t wakeup_bytes);
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&& other) = delete;
  ~PerfRing();

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Takes the records up to `horizon` out of the ring. Paths of the events point into this object
  // and are valid until the next call.
  ParsedRecords read(MonotonicTime horizon, std::vector<MappingEvent>& events);

  // Number of events lost since open(), even if no record reports them yet.
  [[nodiscard]] Result<std::uint64_t> lost() const;

  // Whether the last read() found the ring so full that events may have been lost.
  [[nodiscard]] bool was_crowded() const { return crowded_; }

 private:
  PerfRing(UniqueFd fd, void* memory, std::size_t ring_bytes);

  UniqueFd fd_;
  void* memory_;            // the control page, then the ring
  std::size_t ring_bytes_;  // without the control page
  std::vector<std::byte> batch_;
  bool crowded_ = false;
};

}  // namespace offcpud
