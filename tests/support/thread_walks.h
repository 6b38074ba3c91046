// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/reading_source.h"
#include "support/times.h"

namespace offcpud::test {

// A record of a walk, written as a sentence: thread(tid).of(pid).named("x").blocked(kind, since).
// Times are in seconds; the daemon's PID namespace is the initial one.
class ThreadRecord {
 public:
  explicit ThreadRecord(std::uint32_t tid) {
    record_.tid = record_.tgid = record_.local_tid = record_.local_tgid = tid;
    record_.start_ns = record_.process_start_ns = kSecond;
    record_.state = OFFCPUD_THREAD_ENDED;
    record_.cgroup_id = 1;
    named("thread");
  }

  ThreadRecord& of(std::uint32_t pid) {
    record_.tgid = record_.local_tgid = pid;
    return *this;
  }
  ThreadRecord& started(double s, double process_s) {
    record_.start_ns = ns(s);
    record_.process_start_ns = ns(process_s);
    return *this;
  }
  ThreadRecord& started(double s) { return started(s, s); }
  ThreadRecord& named(std::string_view comm) {
    std::fill(std::begin(record_.comm), std::end(record_.comm), '\0');
    comm.copy(record_.comm, sizeof(record_.comm) - 1);
    return *this;
  }
  ThreadRecord& in_cgroup(std::uint64_t id) {
    record_.cgroup_id = id;
    return *this;
  }
  ThreadRecord& blocked(offcpud_hist_kind kind, double since_s) {
    return in(OFFCPUD_THREAD_BLOCKED, since_s, kind);
  }
  ThreadRecord& runnable(offcpud_hist_kind kind, double since_s) {
    return in(OFFCPUD_THREAD_RUNNABLE, since_s, kind);
  }
  ThreadRecord& running(double since_s) { return in(OFFCPUD_THREAD_RUNNING, since_s, 0); }
  ThreadRecord& ended() { return in(OFFCPUD_THREAD_ENDED, 0, 0); }
  ThreadRecord& waited(offcpud_hist_kind kind, double s) {
    record_.waits_ns[kind] = ns(s);
    return *this;
  }
  ThreadRecord& ran(double s) {
    record_.running_ns = record_.kernel_running_ns = ns(s);
    return *this;
  }
  ThreadRecord& flagged(std::uint32_t flags) {
    record_.flags = flags;
    return *this;
  }
  ThreadRecord& on_cpu(std::uint32_t cpu) {
    record_.cpu = cpu;
    return *this;
  }
  offcpud_thread& raw() { return record_; }
  [[nodiscard]] offcpud_thread at(double now_s) const {
    offcpud_thread record = record_;
    record.now_ns = ns(now_s);
    return record;
  }

 private:
  static std::uint64_t ns(double s) { return static_cast<std::uint64_t>(s * 1e9); }
  ThreadRecord& in(offcpud_thread_state state, double since_s, std::uint32_t kind) {
    record_.state = state;
    record_.since_ns = ns(since_s);
    record_.kind = kind;
    return *this;
  }

  offcpud_thread record_{};
};

inline ThreadRecord thread(std::uint32_t tid) {
  return ThreadRecord(tid);
}

// All of them met at the same moment.
inline std::shared_ptr<const ThreadWalk> walk_at(double now_s,
                                                 const std::vector<ThreadRecord>& records) {
  auto walk = std::make_shared<ThreadWalk>();
  for (const ThreadRecord& record : records) walk->threads.push_back(record.at(now_s));
  std::sort(walk->threads.begin(), walk->threads.end(),
            [](const auto& a, const auto& b) { return a.tid < b.tid; });
  return walk;
}

inline std::shared_ptr<const LatencyHistogram> waits(const std::vector<double>& seconds) {
  auto histogram = std::make_shared<LatencyHistogram>();
  for (const double s : seconds) {
    const auto ns = static_cast<std::uint64_t>(s * 1e9);
    histogram->sum_ns += ns;
    ++histogram->slots[offcpud_slot(ns)];
  }
  return histogram;
}

}  // namespace offcpud::test
