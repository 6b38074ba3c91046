// SPDX-License-Identifier: Apache-2.0
#include "mappings/perf_records.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

namespace offcpud {
namespace {

// The bodies between perf_event_header and the time at the end; fields are named as in the kernel.
struct MapRecord {
  std::uint32_t pid, tid;
  std::uint64_t address, length, page_offset;
  std::uint8_t identity[24];  // device and inode, or build-id: see MISC_MMAP_BUILD_ID
  std::uint32_t protection, flags;
};
struct InodeIdentity {
  std::uint32_t major, minor;
  std::uint64_t inode, generation;
};
struct BuildIdIdentity {
  std::uint8_t size, reserved[3];
  std::uint8_t bytes[BuildId::kKernelMaxSize];
};
struct TaskRecord {
  std::uint32_t pid, parent_pid, tid, parent_tid;
  std::uint64_t time;
};
struct CommRecord {
  std::uint32_t pid, tid;
};
struct LostRecord {
  std::uint64_t id, lost;
};
static_assert(sizeof(MapRecord) == 64 && sizeof(TaskRecord) == 24 && sizeof(LostRecord) == 16);
static_assert(sizeof(InodeIdentity) == 24 && sizeof(BuildIdIdentity) == 24);

constexpr std::size_t kTimeSize = sizeof(std::uint64_t);
constexpr std::size_t kFrameSize = sizeof(perf_event_header) + kTimeSize;

using RecordBytes = std::span<const std::byte>;

template <class T>
std::optional<T> body_as(RecordBytes body) {
  if (body.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, body.data(), sizeof value);
  return value;
}

MonotonicTime time_at_end(RecordBytes record) {
  std::uint64_t time = 0;
  std::memcpy(&time, record.data() + record.size() - kTimeSize, kTimeSize);
  return MonotonicTime(std::chrono::nanoseconds(time));
}

// 0 and -1 mean that the task is outside of the opener's PID namespace.
bool visible(std::uint32_t pid) {
  return pid != 0 && pid != UINT32_MAX;
}

bool parse_map(RecordBytes body, std::uint16_t misc, MappingEvent& event) {
  const auto map = body_as<MapRecord>(body);
  if (!map || map->length == 0 || map->address + map->length < map->address) return false;
  event.kind = MappingEvent::Kind::Mapped;
  event.tgid = map->pid;
  event.tid = map->tid;
  event.begin = map->address;
  event.end = map->address + map->length;
  event.offset = map->page_offset;
  if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) {
    BuildIdIdentity identity{};
    std::memcpy(&identity, map->identity, sizeof identity);
    if (identity.size > sizeof identity.bytes) return false;
    event.build_id = BuildId::from(std::span(identity.bytes).first(identity.size));
  } else {
    InodeIdentity identity{};
    std::memcpy(&identity, map->identity, sizeof identity);
    event.inode = {identity.major, identity.minor, identity.inode};
  }
  const RecordBytes name = body.subspan(sizeof(MapRecord));
  const auto end = std::find(name.begin(), name.end(), std::byte{0});
  if (end == name.end()) return false;  // the kernel always terminates it
  event.path = {reinterpret_cast<const char*>(name.data()),
                static_cast<std::size_t>(end - name.begin())};
  return true;
}

bool parse_task(RecordBytes body, MappingEvent::Kind kind, MappingEvent& event) {
  const auto task = body_as<TaskRecord>(body);
  if (!task) return false;
  event.kind = kind;
  event.tgid = task->pid;
  event.tid = task->tid;
  event.parent_tgid = task->parent_pid;
  return true;
}

bool parse_exec(RecordBytes body, MappingEvent& event) {
  const auto comm = body_as<CommRecord>(body);
  if (!comm) return false;
  event.kind = MappingEvent::Kind::Executed;
  event.tgid = comm->pid;
  event.tid = comm->tid;
  return true;
}

enum class RecordOutcome { Event, Other, Malformed };

RecordOutcome outcome_of(bool parsed, const MappingEvent& event) {
  if (!parsed) return RecordOutcome::Malformed;
  return visible(event.tgid) ? RecordOutcome::Event : RecordOutcome::Other;
}

RecordOutcome parse_body(const perf_event_header& header, RecordBytes body, MappingEvent& event) {
  switch (header.type) {
    case PERF_RECORD_MMAP2:
      return outcome_of(parse_map(body, header.misc, event), event);
    case PERF_RECORD_FORK:
      return outcome_of(parse_task(body, MappingEvent::Kind::Forked, event), event);
    case PERF_RECORD_EXIT:
      return outcome_of(parse_task(body, MappingEvent::Kind::Exited, event), event);
    case PERF_RECORD_COMM:
      if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) == 0) return RecordOutcome::Other;
      return outcome_of(parse_exec(body, event), event);
    case PERF_RECORD_LOST: {
      const auto lost = body_as<LostRecord>(body);
      if (!lost) return RecordOutcome::Malformed;
      event.kind = MappingEvent::Kind::Lost;
      event.lost = lost->lost;
      return RecordOutcome::Event;
    }
    default:
      return RecordOutcome::Other;
  }
}

}  // namespace

ParsedRecords parse_records(RecordBytes bytes, MonotonicTime horizon,
                            std::vector<MappingEvent>& events) {
  ParsedRecords result;
  while (result.consumed < bytes.size()) {
    const RecordBytes rest = bytes.subspan(result.consumed);
    const auto header = body_as<perf_event_header>(rest);
    if (!header || header->size < kFrameSize || header->size > rest.size()) {
      ++result.malformed;
      result.consumed = bytes.size();
      break;
    }
    const RecordBytes record = rest.first(header->size);
    MappingEvent event;
    event.time = time_at_end(record);
    if (event.time > horizon) break;
    result.consumed += record.size();
    const RecordBytes body = record.subspan(sizeof *header, record.size() - kFrameSize);
    switch (parse_body(*header, body, event)) {
      case RecordOutcome::Event:
        events.push_back(event);
        break;
      case RecordOutcome::Malformed:
        ++result.malformed;
        break;
      case RecordOutcome::Other:
        break;
    }
  }
  return result;
}

}  // namespace offcpud
