// SPDX-License-Identifier: Apache-2.0
#include "mappings/perf_records.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "perf_record_bytes.h"

namespace offcpud {
namespace {

using test::PerfRecordBytes;

constexpr MonotonicTime at(std::int64_t nanoseconds) {
  return MonotonicTime(std::chrono::nanoseconds(nanoseconds));
}

constexpr MonotonicTime kAll = MonotonicTime::max();

TEST(PerfRecords, MappingWithBuildId) {
  PerfRecordBytes ring;
  ring.mapped_with_build_id(1000, 42, 0x7f0000001000, 0x2000, 0x1000, 20, 0xab, "/lib/libc.so.6");
  std::vector<MappingEvent> events;
  const auto parsed = parse_records(ring.bytes(), kAll, events);
  EXPECT_EQ(parsed.consumed, ring.bytes().size());
  EXPECT_EQ(parsed.malformed, 0U);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, MappingEvent::Kind::Mapped);
  EXPECT_EQ(events[0].tgid, 42U);
  EXPECT_EQ(events[0].time, at(1000));
  EXPECT_EQ(events[0].begin, 0x7f0000001000U);
  EXPECT_EQ(events[0].end, 0x7f0000003000U);
  EXPECT_EQ(events[0].offset, 0x1000U);
  EXPECT_EQ(events[0].path, "/lib/libc.so.6");
  EXPECT_EQ(events[0].build_id.hex(), "abababababababababababababababababababab");
  EXPECT_FALSE(events[0].inode.known());
}

TEST(PerfRecords, MappingWithoutBuildIdHasItsInode) {
  PerfRecordBytes ring;
  ring.mapped(1, 42, 0x1000, 0x1000, 0, 254, 3, 123456, "/tmp/jit.so");
  std::vector<MappingEvent> events;
  parse_records(ring.bytes(), kAll, events);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_FALSE(events[0].build_id.known());
  EXPECT_EQ(events[0].inode, (InodeId{254, 3, 123456}));
}

TEST(PerfRecords, ThreadsProcessesAndExecs) {
  PerfRecordBytes ring;
  ring.task(PERF_RECORD_FORK, 1, 50, 40, 50)
      .task(PERF_RECORD_FORK, 2, 50, 50, 51)
      .comm(3, 50, false, "renamed")
      .comm(4, 50, true, "executed")
      .task(PERF_RECORD_EXIT, 5, 50, 40, 50);
  std::vector<MappingEvent> events;
  EXPECT_EQ(parse_records(ring.bytes(), kAll, events).malformed, 0U);
  ASSERT_EQ(events.size(), 4U);  // a new name alone is of no interest
  EXPECT_EQ(events[0].kind, MappingEvent::Kind::Forked);
  EXPECT_EQ(events[0].parent_tgid, 40U);
  EXPECT_EQ(events[1].kind, MappingEvent::Kind::Forked);
  EXPECT_EQ(events[1].parent_tgid, 50U);
  EXPECT_EQ(events[1].tid, 51U);
  EXPECT_EQ(events[2].kind, MappingEvent::Kind::Executed);
  EXPECT_EQ(events[2].time, at(4));
  EXPECT_EQ(events[3].kind, MappingEvent::Kind::Exited);
}

TEST(PerfRecords, LossesAreToldUnknownTypesPassedOver) {
  PerfRecordBytes ring;
  ring.of_type(9999, 1).lost(2, 17);
  std::vector<MappingEvent> events;
  EXPECT_EQ(parse_records(ring.bytes(), kAll, events).malformed, 0U);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, MappingEvent::Kind::Lost);
  EXPECT_EQ(events[0].lost, 17U);
}

TEST(PerfRecords, ProcessesOutsideOfTheNamespaceArePassedOver) {
  PerfRecordBytes ring;
  ring.task(PERF_RECORD_FORK, 1, 0, 0, 0).task(PERF_RECORD_EXIT, 2, UINT32_MAX, 0, UINT32_MAX);
  std::vector<MappingEvent> events;
  EXPECT_EQ(parse_records(ring.bytes(), kAll, events).malformed, 0U);
  EXPECT_TRUE(events.empty());
}

TEST(PerfRecords, WhatIsLaterThanTheHorizonStaysInTheRing) {
  PerfRecordBytes ring;
  ring.task(PERF_RECORD_FORK, 10, 50, 40, 50);
  const std::size_t first = ring.bytes().size();
  ring.task(PERF_RECORD_FORK, 20, 51, 40, 51).task(PERF_RECORD_FORK, 30, 52, 40, 52);
  std::vector<MappingEvent> events;
  EXPECT_EQ(parse_records(ring.bytes(), at(19), events).consumed, first);
  EXPECT_EQ(events.size(), 1U);
  EXPECT_EQ(parse_records(ring.bytes(), at(20), events).consumed, first * 2);
}

TEST(PerfRecords, AnImpossibleSizeEndsTheReading) {
  PerfRecordBytes ring;
  ring.task(PERF_RECORD_FORK, 1, 50, 40, 50).task(PERF_RECORD_FORK, 2, 51, 40, 51);
  for (const std::uint16_t size :
       {std::uint16_t{0}, std::uint16_t{7}, std::uint16_t{15}, std::uint16_t{4000}}) {
    auto bytes = ring.bytes();
    std::memcpy(bytes.data() + bytes.size() / 2 + 6, &size, sizeof size);
    std::vector<MappingEvent> events;
    const auto parsed = parse_records(bytes, kAll, events);
    EXPECT_EQ(parsed.consumed, bytes.size()) << size;
    EXPECT_EQ(parsed.malformed, 1U) << size;
    EXPECT_EQ(events.size(), 1U) << size;
  }
}

TEST(PerfRecords, MappingsThatMakeNoSenseAreCounted) {
  PerfRecordBytes ring;
  ring.mapped_with_build_id(1, 42, 0x1000, 0x1000, 0, 21, 1, "/too/long/an/id")
      .mapped(2, 42, 0x1000, 0, 0, 8, 1, 5, "/empty")
      .mapped(3, 42, UINT64_MAX - 10, 0x1000, 0, 8, 1, 5, "/around")
      .of_type(PERF_RECORD_MMAP2, 4)
      .of_type(PERF_RECORD_EXIT, 5)
      .of_type(PERF_RECORD_LOST, 6);
  std::vector<MappingEvent> events;
  EXPECT_EQ(parse_records(ring.bytes(), kAll, events).malformed, 6U);
  EXPECT_TRUE(events.empty());
}

TEST(PerfRecords, ANameWithoutAnEndIsNotReadBeyondItsRecord) {
  PerfRecordBytes ring;
  ring.mapped(1, 42, 0x1000, 0x1000, 0, 8, 1, 5, "/abcdef");  // 7 and the terminator
  auto bytes = ring.bytes();
  bytes[bytes.size() - 9] = std::byte{'x'};
  std::vector<MappingEvent> events;
  EXPECT_EQ(parse_records(bytes, kAll, events).malformed, 1U);
  EXPECT_TRUE(events.empty());
}

// Every cut and many random bytes: under a sanitizer this shows reads out of bounds; here that all
// ends and that no path lies outside of the buffer.
TEST(PerfRecords, AnyBytesAreReadWithinTheirBounds) {
  PerfRecordBytes ring;
  ring.mapped_with_build_id(1, 42, 0x1000, 0x1000, 0, 20, 1, "/usr/bin/true")
      .comm(2, 42, true, "true")
      .task(PERF_RECORD_EXIT, 3, 42, 1, 42);
  std::mt19937 random(1);
  for (std::size_t cut = 0; cut <= ring.bytes().size(); ++cut) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::byte> bytes(ring.bytes().begin(),
                                   ring.bytes().begin() + static_cast<std::ptrdiff_t>(cut));
      for (int i = 0; i < round % 5 && cut != 0; ++i) bytes[random() % cut] = std::byte(random());
      std::vector<MappingEvent> events;
      const auto parsed = parse_records(bytes, kAll, events);
      EXPECT_LE(parsed.consumed, bytes.size());
      for (const auto& event : events) {
        if (event.path.empty()) continue;
        const auto* path = reinterpret_cast<const std::byte*>(event.path.data());
        EXPECT_GE(path, bytes.data());
        EXPECT_LE(path + event.path.size(), bytes.data() + bytes.size());
      }
    }
  }
}

}  // namespace
}  // namespace offcpud
