// SPDX-License-Identifier: Apache-2.0
#include "mappings/mapping_events.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/file_io.h"
#include "mappings/cpu_list.h"

namespace offcpud {
namespace {

constexpr std::size_t kSmallestRing = std::size_t{32} * 1024;

Result<std::vector<int>> cpus_in(const std::string& path) {
  TRY(const std::string text, read_file(path, 65536));
  return parse_cpu_list(text);
}

}  // namespace

Result<MappingEvents> MappingEvents::open(const Options& options) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (!std::has_single_bit(options.ring_bytes) || options.ring_bytes < page) {
    return Error("ring of mapping events: " + std::to_string(options.ring_bytes) +
                 " bytes are no power of two of whole pages");
  }
  TRY(auto cpus, cpus_in(options.online_cpus));
  Options tried = options;
  for (;;) {
    MappingEvents events;
    events.epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    if (!events.epoll_) return Error::from_errno(errno, "epoll_create1");
    auto status = events.open_rings(cpus, tried);
    if (status) return events;
    const bool denied = status.error().kind() == ErrorKind::Permission;
    if (!denied || tried.ring_bytes <= kSmallestRing) return std::move(status).error();
    tried.ring_bytes /= 2;
  }
}

Status MappingEvents::open_rings(const std::vector<int>& cpus, const Options& options) {
  ring_bytes_ = options.ring_bytes;
  online_cpus_ = options.online_cpus;
  cpus_ = cpus;
  rings_.reserve(cpus.size());
  for (const int cpu : cpus) {
    TRY(auto ring, PerfRing::open(cpu, options.ring_bytes,
                                  std::min(options.wakeup_bytes, options.ring_bytes / 2)));
    epoll_event interest{};
    interest.events = EPOLLIN;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ring.fd(), &interest) != 0) {
      return Error::from_errno(errno, "epoll_ctl", "mapping events");
    }
    rings_.push_back(std::move(ring));
  }
  return {};
}

void MappingEvents::drain(const std::function<void(std::span<const MappingEvent>)>& ahead,
                          const std::function<void(const MappingEvent&)>& apply) {
  // If b follows from a, the record of a was complete before b happened. All records up to a time
  // before the first ring is read thus contain, for each such b, its a.
  const MonotonicTime horizon = SystemClock().now();
  batch_.clear();
  bool crowded = false;
  for (PerfRing& ring : rings_) {
    counts_.malformed += ring.read(horizon, batch_).malformed;
    crowded = crowded || ring.was_crowded();
  }
  std::stable_sort(batch_.begin(), batch_.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  ahead(batch_);
  MappingEvent loss;
  loss.kind = MappingEvent::Kind::Lost;
  loss.time = horizon;
  for (const MappingEvent& event : batch_) {
    if (event.kind == MappingEvent::Kind::Lost) {
      loss.lost += event.lost;
      continue;
    }
    ++counts_.events;
    apply(event);
  }
  if (!crowded && loss.lost == 0) return;
  loss.lost = newly_lost(loss.lost);
  counts_.lost += loss.lost;
  if (loss.lost != 0) apply(loss);
}

std::uint64_t MappingEvents::newly_lost(std::uint64_t recorded) const {
  // Unlike the records, the counters include losses that no later record has reported yet.
  std::uint64_t total = 0;
  for (const PerfRing& ring : rings_) {
    const auto lost = ring.lost();
    if (!lost) return recorded;
    total += *lost;
  }
  return total - std::min(total, counts_.lost);
}

Result<bool> MappingEvents::has_new_cpus() const {
  TRY(const auto online, cpus_in(online_cpus_));
  return std::ranges::any_of(
      online, [this](int cpu) { return std::ranges::find(cpus_, cpu) == cpus_.end(); });
}

bool proc_has_own_numbers() {
  std::array<char, 16> target{};
  const ssize_t length = ::readlink("/proc/self", target.data(), target.size() - 1);
  return length > 0 && std::to_string(::getpid()) == target.data();
}

}  // namespace offcpud
