// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "fakes.h"
#include "mappings/process_mappings.h"
#include "support/fake_clock.h"

namespace offcpud::test {

// Processes of which events tell; times are nanoseconds.
class ProcessMappingsTest : public ::testing::Test {
 protected:
  using Kind = MappingEvent::Kind;

  static constexpr MonotonicTime at(std::int64_t time) {
    return MonotonicTime(std::chrono::nanoseconds(time));
  }
  void map(std::int64_t time, std::uint32_t tgid, std::uint64_t begin, std::uint64_t end,
           std::uint8_t id, const char* path = "/p") {
    MappingEvent event;
    event.kind = Kind::Mapped;
    event.time = at(time);
    event.tgid = event.tid = tgid;
    event.begin = begin;
    event.end = end;
    if (id != 0) event.build_id = build_id(id);
    event.path = path;
    state().apply(event);
  }
  void task(Kind kind, std::int64_t time, std::uint32_t tgid, std::uint32_t tid,
            std::uint32_t parent = 0) {
    MappingEvent event;
    event.kind = kind;
    event.time = at(time);
    event.tgid = tgid;
    event.tid = tid;
    event.parent_tgid = parent;
    state().apply(event);
  }
  ProcessMappings& state() {
    if (!state_) {
      state_ = std::make_unique<ProcessMappings>(log_, opener_, reader_, clock_, limits_);
    }
    return *state_;
  }
  std::string path_at(std::uint32_t tgid, std::int64_t when, std::uint64_t address) {
    const auto location = state().find(tgid, at(when), address);
    return location ? location->mapping->file->path : "";
  }

  ObserverLog log_;
  FakeOpener opener_;
  FakeReader reader_;
  FakeClock clock_;
  ProcessMappings::Limits limits_;
  std::unique_ptr<ProcessMappings> state_;
};

}  // namespace offcpud::test
