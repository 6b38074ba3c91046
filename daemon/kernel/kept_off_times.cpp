// SPDX-License-Identifier: Apache-2.0
#include "kernel/kept_off_times.h"

#include <atomic>
#include <chrono>
#include <cstring>

#include "kernel/program_grace.h"
#include "offcpud.skel.h"

namespace offcpud {

Result<KeptOffTimes> KeptOffTimes::open(BpfSession& session) {
  TRY(auto times, MappedArray<offcpud_kept_off_times>::map(session.skeleton().maps.kept_off, true));
  return KeptOffTimes(session, std::move(times));
}

KeptOffTimes::Read KeptOffTimes::sum_of_shards(std::uint32_t subject) const {
  Read sum;
  const std::uint32_t shards = session_->plan().shards;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    const offcpud_kept_off_times& part = times_[std::size_t{subject} * shards + shard];
    for (std::size_t i = 0; i < sum.sums_ns.size(); ++i) sum.sums_ns[i] += part.sums_ns[i];
    sum.refused += part.refused;
    for (std::size_t window = 0; window < sum.takers.size(); ++window) {
      for (const offcpud_taker_time& taker : part.takers[window]) {
        if (taker.cgroup_id != 0) sum.takers[window][taker.cgroup_id] += taker.ns;
      }
    }
  }
  return sum;
}

void KeptOffTimes::read(std::uint64_t cgroup_id, std::uint32_t subject) {
  if (subject >= session_->plan().subjects || !session_->tells_takers()) return;
  Read now = sum_of_shards(subject);
  Read& before = last_[subject];
  const auto add = [&](std::uint64_t taker, std::uint64_t was, std::uint64_t is) {
    if (is > was) gained_[{cgroup_id, taker}] += is - was;
  };
  for (std::size_t i = 0; i < now.sums_ns.size(); ++i) {
    add(~std::uint64_t{i}, before.sums_ns[i], now.sums_ns[i]);
  }
  refused_ += now.refused - before.refused;
  for (std::size_t window = 0; window < now.takers.size(); ++window) {
    for (const auto& [taker, ns] : now.takers[window]) {
      const auto was = before.takers[window].find(taker);
      add(taker, was == before.takers[window].end() ? 0 : was->second, ns);
    }
  }
  before = std::move(now);
}

void KeptOffTimes::empty(std::uint32_t subject, std::uint32_t window) {
  const std::uint32_t shards = session_->plan().shards;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    auto& takers = times_[std::size_t{subject} * shards + shard].takers[window];
    std::memset(takers, 0, sizeof(takers));
  }
}

void KeptOffTimes::release(std::uint32_t subject) {
  const std::uint32_t shards = session_->plan().shards;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    std::memset(&times_[std::size_t{subject} * shards + shard], 0, sizeof(offcpud_kept_off_times));
  }
  last_.erase(subject);
}

void KeptOffTimes::turn_window(MonotonicTime now) {
  if (now - turned_ < kProgramGrace || !session_->tells_takers()) return;
  turned_ = now;
  auto current = std::atomic_ref<decltype(session_->skeleton().data_settings->taker_window)>(
      session_->skeleton().data_settings->taker_window);
  const std::uint32_t next = (current.load(std::memory_order_relaxed) + 1) % OFFCPUD_TAKER_WINDOWS;
  for (auto& [subject, last] : last_) {
    if (last.takers[next].empty()) continue;
    empty(subject, next);
    last.takers[next].clear();
  }
  current.store(next, std::memory_order_release);
}

std::vector<KeptOffIncrease> KeptOffTimes::take() {
  std::vector<KeptOffIncrease> taken;
  taken.reserve(gained_.size());
  for (const auto& [pair, ns] : gained_) taken.push_back({pair.first, pair.second, ns});
  gained_.clear();
  return taken;
}

}  // namespace offcpud
