// SPDX-License-Identifier: Apache-2.0
#include "kernel/sample_reader.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <utility>

#include "offcpud.skel.h"

namespace offcpud {

Result<std::unique_ptr<SampleReader>> SampleReader::open(const BpfSession& session) {
  std::unique_ptr<SampleReader> reader(new SampleReader(session));
  reader->ring_ = ring_buffer__new(bpf_map__fd(session.skeleton().maps.samples), on_event,
                                   reader.get(), nullptr);
  if (!reader->ring_) return Error::from_errno(errno, "open the ring of samples");
  return reader;
}

SampleReader::~SampleReader() {
  ring_buffer__free(ring_);
}

void SampleReader::choose(const SampleChoice& choice) {
  auto& shared = *session_.skeleton().bss;
  shared.sample_interval_ns = static_cast<std::uint64_t>(choice.interval.count());
  shared.sample_min_ns = static_cast<std::uint64_t>(choice.least.count());
  shared.sample_max_ns = static_cast<std::uint64_t>(choice.most.count());
  shared.sample_kinds = choice.kinds;  // last: it switches the sampling on
}

int SampleReader::on_event(void* self, void* data, std::size_t size) {
  auto& reader = *static_cast<SampleReader*>(self);
  if (size < sizeof(offcpud_sample_record)) return 0;
  ++reader.taken_;
  (*reader.take_)(*static_cast<const offcpud_sample_record*>(data));
  return 0;
}

Result<std::uint64_t> SampleReader::drain(
    const std::function<void(const offcpud_sample_record&)>& take) {
  take_ = &take;
  taken_ = 0;
  const int drained = ring_buffer__consume(ring_);
  take_ = nullptr;
  if (drained < 0) return Error::from_errno(-drained, "read the ring of samples");
  return taken_;
}

std::uint64_t SampleReader::take_lost_ns() {
  const std::uint64_t now = session_.skeleton().bss->samples_lost_ns;
  return now - std::exchange(lost_ns_, now);
}

}  // namespace offcpud
