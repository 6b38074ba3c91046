// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpu_bells.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <utility>

namespace offcpud {
namespace {

constexpr std::uint32_t kMostBytes = 128U << 10, kLeastBytes = 16U << 10, kTotalBytes = 1U << 20;

// Each ring takes 16 bytes (BPF_RINGBUF_HDR_SZ, and a word). As many as there is room for samples
// until the daemon looks, on a few CPUs; on many, not all of them ring at once.
std::uint32_t size_for(std::uint32_t cpus) {
  return std::bit_floor(std::clamp(kTotalBytes / cpus, kLeastBytes, kMostBytes));
}

int pass_over(void* /*context*/, void* /*data*/, std::size_t /*size*/) {
  return 0;
}

}  // namespace

Result<CpuBells> CpuBells::hang(const bpf_map* bells) {
  const std::uint32_t cpus = bpf_map__max_entries(bells);
  const std::uint32_t size = size_for(cpus);
  Reader reader;
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
    const UniqueFd bell(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "bell", 0, 0, size, nullptr));
    if (!bell) return Error::from_errno(errno, "make the bell of a CPU");
    const int fd = bell.get();
    if (!reader) {
      reader.reset(ring_buffer__new(fd, pass_over, nullptr, nullptr));
      if (!reader) return Error::from_errno(errno, "read the bell of a CPU");
    } else if (const int error = ring_buffer__add(reader.get(), fd, pass_over, nullptr);
               error != 0) {
      return Error::from_errno(-error, "read the bell of a CPU");
    }
    if (const int error = bpf_map_update_elem(bpf_map__fd(bells), &cpu, &fd, BPF_ANY); error != 0) {
      return Error::from_errno(-error, "hang the bell of a CPU");
    }
  }
  return CpuBells(std::move(reader));
}

void CpuBells::empty() const {
  ring_buffer__consume(reader_.get());
}

}  // namespace offcpud
