// SPDX-License-Identifier: Apache-2.0
// Records of the kernel's ring, with paths that any user chooses, and what the mappings of all
// processes become by them.
#include "fuzz.h"
#include "mappings/perf_records.h"
#include "mappings/process_mappings.h"
#include "support/fake_clock.h"
#include "text.h"
#include "unit/mappings/fakes.h"
#include "unit/mappings/perf_record_bytes.h"

namespace offcpud::fuzz {
namespace {

class NoObserver final : public MappingObserver {
 public:
  void object_found(const std::shared_ptr<const MappedObject>& /*object*/,
                    const MappedFile& /*file*/, UniqueFd /*fd*/) override {}
  void copy_found(const MappedObject& /*object*/, UniqueFd /*fd*/) override {}
  void object_forgotten(const MappedObject& /*object*/) override {}
  void image_began(const ImageId& /*image*/, std::span<const Mapping> /*inherited*/) override {}
  void mapping_added(const ImageId& /*image*/, const Mapping& mapping) override {
    require(mapping.begin < mapping.end, "mappings are not empty");
  }
  void mapping_removed(const ImageId& /*image*/, const Mapping& /*mapping*/) override {}
  void image_ended(const ImageId& /*image*/, std::span<const Mapping> /*mappings*/) override {}
};

void require_mappings(const ProcessMappings& processes, std::uint32_t tgid) {
  std::uint64_t end = 0;
  for (const Mapping& mapping : processes.mappings_of(tgid)) {
    require(mapping.begin >= end && mapping.begin < mapping.end, "mappings ascend, apart");
    require(mapping.file != nullptr, "a mapping has a file");
    end = mapping.end;
  }
}

}  // namespace

void test(std::string_view input) {
  std::vector<MappingEvent> events;
  const auto bytes = std::as_bytes(bytes_of(input));
  const ParsedRecords parsed = parse_records(bytes, MonotonicTime::max(), events);
  require(parsed.consumed <= bytes.size(), "no more is consumed than there is");
  require(events.size() + parsed.malformed <= bytes.size() / 16 + 1, "records take bytes");

  FakeClock clock;
  test::FakeOpener opener;
  test::FakeReader reader;
  NoObserver observer;
  constexpr ProcessMappings::Limits kLimits{.images = 16, .mappings = 64, .unused_objects = 8};
  ProcessMappings processes(observer, opener, reader, clock, kLimits);
  for (const MappingEvent& event : events) {
    if (event.kind == MappingEvent::Kind::Mapped) {
      require(event.begin < event.end, "mappings are not empty");
      require(event.path.empty() ||
                  (event.path.data() >= input.data() &&
                   event.path.data() + event.path.size() <= input.data() + input.size()),
              "paths are in the buffer");
    }
    require(event.build_id.size <= BuildId::kKernelMaxSize, "build-ids are bounded");
    processes.apply(event);
    require_mappings(processes, event.tgid);
    const auto counts = processes.counts();
    require(counts.live + counts.ended <= kLimits.images && counts.mappings <= kLimits.mappings,
            "the limits hold");
  }
}

std::vector<std::string> seeds() {
  const auto text = [](const test::PerfRecordBytes& records) {
    return std::string(text_of(
        bytes_of({reinterpret_cast<const char*>(records.bytes().data()), records.bytes().size()})));
  };
  test::PerfRecordBytes life;
  life.task(PERF_RECORD_FORK, 1, 100, 1, 100)
      .comm(2, 100, true, "server")
      .mapped_with_build_id(3, 100, 0x400000, 0x1000, 0, 20, 7, "/usr/bin/server")
      .mapped(4, 100, 0x7f0000000000, 0x200000, 0, 8, 1, 42, "/usr/lib/libx.so (deleted)")
      .mapped(5, 100, 0x7f0000001000, 0x1000, 0x1000, 0, 0, 0, "//anon")
      .task(PERF_RECORD_FORK, 6, 101, 100, 101)
      .task(PERF_RECORD_FORK, 7, 100, 100, 102)
      .mapped(8, 101, 0x7f0000000000, 0x1000, 0, 0, 0, 0, "[vdso]")
      .task(PERF_RECORD_EXIT, 9, 100, 1, 100)
      .lost(10, 5)
      .of_type(PERF_RECORD_SWITCH, 11);
  return {text(life)};
}

}  // namespace offcpud::fuzz
