// SPDX-License-Identifier: Apache-2.0
#include "kernel/self_interrupts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace offcpud {
namespace {

constexpr const char* kMake = "make the ring of a CPU";
constexpr std::uint32_t kMostBytes = 128U << 10, kLeastBytes = 16U << 10, kTotalBytes = 1U << 20;

// One interrupt takes 16 bytes of the ring (BPF_RINGBUF_HDR_SZ and a word). With few CPUs, there is
// room for as many interrupts as for samples until the next drain; with many CPUs, rings are
// smaller, as not all CPUs interrupt themselves at once.
std::uint32_t size_for(std::uint32_t cpus) {
  return std::bit_floor(std::clamp(kTotalBytes / cpus, kLeastBytes, kMostBytes));
}

int pass_over(void* /*context*/, void* /*data*/, std::size_t /*size*/) {
  return 0;
}

}  // namespace

Result<SelfInterrupts> SelfInterrupts::make(const bpf_map* map) {
  const std::uint32_t cpus = bpf_map__max_entries(map);
  const std::uint32_t size = size_for(cpus);
  Reader reader;
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
    const UniqueFd ring(
        bpf_map_create(BPF_MAP_TYPE_RINGBUF, "self_interrupt", 0, 0, size, nullptr));
    if (!ring) return Error::from_errno(errno, kMake);
    const int fd = ring.get();
    if (!reader) {
      reader.reset(ring_buffer__new(fd, pass_over, nullptr, nullptr));
      if (!reader) return Error::from_errno(errno, kMake);
    } else if (const int error = ring_buffer__add(reader.get(), fd, pass_over, nullptr);
               error != 0) {
      return Error::from_errno(-error, kMake);
    }
    if (const int error = bpf_map_update_elem(bpf_map__fd(map), &cpu, &fd, BPF_ANY); error != 0) {
      return Error::from_errno(-error, kMake);
    }
  }
  return SelfInterrupts(std::move(reader));
}

void SelfInterrupts::empty() const {
  ring_buffer__consume(reader_.get());
}

}  // namespace offcpud
