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
  std::uint64_t malformed = 0;  // records that make no sense, left out
};

// Appends the events in `bytes`, the contents of a ring of perf_event_open(2) whose event has
// sample_id_all and sample_type PERF_SAMPLE_TIME, to `events`, in the order of the ring. Stops
// before the first record that is later than `horizon`. Records of other types, events of kernel
// threads and of processes outside of the opener's PID namespace are passed over. No byte is
// trusted: a record whose size is impossible ends the reading, and all bytes count as consumed.
ParsedRecords parse_records(std::span<const std::byte> bytes, MonotonicTime horizon,
                            std::vector<MappingEvent>& events);

}  // namespace offcpud
