// SPDX-License-Identifier: Apache-2.0
#include "mappings/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

namespace offcpud {
namespace {

perf_event_attr attributes(std::size_t wakeup_bytes) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;  // counts nothing; we only want its side-band records
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.read_format = PERF_FORMAT_LOST;
  attr.exclude_kernel = 1;  // asks for no more privilege than necessary
  attr.exclude_hv = 1;
  attr.mmap = 1;  // executable mappings; with mmap_data each mmap by malloc would be reported
  attr.mmap2 = 1;
  attr.build_id = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;  // the clock of bpf_ktime_get_ns()
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<std::uint32_t>(wakeup_bytes);
  return attr;
}

Error open_error(int code, int cpu) {
  const std::string object = "mapping events of CPU " + std::to_string(cpu);
  if (code == EPERM || code == EACCES) {
    return Error("perf_event_open '" + object + "': " + std::strerror(code) +
                     "; CAP_PERFMON is missing, or a seccomp filter or LSM forbids it",
                 ErrorKind::Permission);
  }
  if (code == ENOSYS || code == EINVAL || code == EOPNOTSUPP || code == ENOENT) {
    return Error("perf_event_open '" + object + "': " + std::strerror(code) +
                     "; Linux 6.1 or later with CONFIG_PERF_EVENTS is needed",
                 ErrorKind::Unsupported);
  }
  return Error::from_errno(code, "perf_event_open", object);
}

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

Result<PerfRing> PerfRing::open(int cpu, std::size_t ring_bytes, std::size_t wakeup_bytes) {
  perf_event_attr attr = attributes(wakeup_bytes);
  UniqueFd fd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd) return open_error(errno, cpu);
  void* memory =
      ::mmap(nullptr, page_size() + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) {
    if (errno != EPERM) return Error::from_errno(errno, "mmap", "ring of mapping events");
    return Error("mmap 'ring of mapping events': " + std::to_string(ring_bytes / 1024) +
                     " KiB per CPU are more than kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK "
                     "leave; raise one of them or give CAP_IPC_LOCK",
                 ErrorKind::Permission);
  }
  return PerfRing(std::move(fd), memory, ring_bytes);
}

PerfRing::PerfRing(UniqueFd fd, void* memory, std::size_t ring_bytes)
    : fd_(std::move(fd)), memory_(memory), ring_bytes_(ring_bytes) {}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : fd_(std::move(other.fd_)),
      memory_(std::exchange(other.memory_, nullptr)),
      ring_bytes_(other.ring_bytes_),
      batch_(std::move(other.batch_)),
      crowded_(other.crowded_) {}

PerfRing::~PerfRing() {
  if (memory_ != nullptr) ::munmap(memory_, page_size() + ring_bytes_);
}

ParsedRecords PerfRing::read(MonotonicTime horizon, std::vector<MappingEvent>& events) {
  auto* control = static_cast<perf_event_mmap_page*>(memory_);
  const auto* ring = static_cast<const std::byte*>(memory_) + page_size();
  // Pairs with the kernel, which stores the head with release semantics after the records, and
  // loads the tail with acquire semantics before overwriting them.
  const std::uint64_t head = std::atomic_ref(control->data_head).load(std::memory_order_acquire);
  const std::uint64_t tail = control->data_tail;
  const auto waiting = static_cast<std::size_t>(std::min<std::uint64_t>(head - tail, ring_bytes_));
  crowded_ = waiting > ring_bytes_ / 2;
  if (waiting == 0) return {};

  batch_.resize(waiting);
  const std::size_t from = tail & (ring_bytes_ - 1);
  const std::size_t to_edge = std::min(waiting, ring_bytes_ - from);
  std::memcpy(batch_.data(), ring + from, to_edge);
  std::memcpy(batch_.data() + to_edge, ring, waiting - to_edge);

  const ParsedRecords result = parse_records(batch_, horizon, events);
  std::atomic_ref(control->data_tail).store(tail + result.consumed, std::memory_order_release);
  return result;
}

Result<std::uint64_t> PerfRing::lost() const {
  // the event count, always 0, and the number of lost records
  std::array<std::uint64_t, 2> values{};
  if (::read(fd_.get(), values.data(), sizeof values) != sizeof values) {
    return Error::from_errno(errno, "read", "count of lost mapping events");
  }
  return values[1];
}

}  // namespace offcpud
