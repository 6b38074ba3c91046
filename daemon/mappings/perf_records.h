// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mappings/mapping_event.h"

namespace offcpud {

struct ParsedRecords {
  std::size_t consumed = 0;     // bytes, whole records
  std::uint64_t malformed = 0;  // malformed records that were skipped
};

// Appends the events in `bytes` to `events`, in the order of the ring. `bytes` is the contents of a
// ring of perf_event_open(2) whose event has sample_id_all and sample_type PERF_SAMPLE_TIME. Stops
// before the first record later than `horizon`. Skips records of other types, kernel threads, and
// processes outside of the opener's PID namespace. No byte is trusted: a record of impossible size
// ends the reading, and all bytes count as consumed.
ParsedRecords parse_records(std::span<const std::byte> bytes, MonotonicTime horizon,
                            std::vector<MappingEvent>& events);

}  // namespace offcpud
