// SPDX-License-Identifier: Apache-2.0
// What a pass costs for processes: 2,000 of them with 10,000 threads, half of which woke since the
// last walk. Prints milliseconds per pass with a new walk and with the same one.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "pipeline/process_table.h"

namespace {

using namespace offcpud;

constexpr std::uint32_t kProcesses = 2'000;
constexpr std::uint32_t kThreads = 10'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

std::shared_ptr<const ThreadWalk> walk_at(std::uint64_t now_s) {
  auto walk = std::make_shared<ThreadWalk>();
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    offcpud_thread thread{};
    thread.tid = thread.local_tid = i + 1;
    thread.tgid = thread.local_tgid = i % kProcesses + 1;
    thread.start_ns = thread.process_start_ns = thread.tgid;
    thread.cgroup_id = thread.tgid % 200;
    thread.now_ns = now_s * kSecond;
    const bool woke = i % 2 == 0;
    thread.since_ns = (woke ? now_s - 1 : 1) * kSecond;
    thread.state = OFFCPUD_THREAD_BLOCKED;
    thread.kind = i % OFFCPUD_BLOCKED_KINDS;
    thread.waits_ns[thread.kind] = woke ? now_s * kSecond : 0;
    std::snprintf(thread.comm, sizeof(thread.comm), "worker-%u", i);
    walk->threads.push_back(thread);
  }
  return walk;
}

void count_waits(KernelReading& sample) {
  for (ProcessReading& reading : sample.processes) {
    if (reading.tgid % 2 == 0) continue;  // asleep: the same objects
    for (const std::size_t kind :
         {OFFCPUD_BLOCKED_DISK, OFFCPUD_BLOCKED_POLL, OFFCPUD_RUNQ_WAKEUP}) {
      auto next = reading.histograms[kind]
                      ? std::make_shared<LatencyHistogram>(*reading.histograms[kind])
                      : std::make_shared<LatencyHistogram>();
      next->sum_ns += kSecond;
      next->slots[80] += 1;
      reading.histograms[kind] = std::move(next);
    }
  }
}

}  // namespace

int main() {
  const auto labels = std::make_shared<const SubjectLabels>(labels_of_cgroup("/a.service"));
  const LabelsOfCgroup labels_of = [&](std::uint64_t) { return labels; };
  ProcessTable table({.is_chosen = [](const ProcessRow& row) { return row.comm == "worker-7"; }});
  KernelReading sample;
  for (std::uint32_t tgid = 1; tgid <= kProcesses; ++tgid) {
    sample.processes.push_back({tgid, tgid, {}});
  }
  double new_walk_ms = 0, same_walk_ms = 0;
  const auto timed = [&](double& total) {
    const auto start = std::chrono::steady_clock::now();
    if (table.update(sample, labels_of, start, 4'000).size() != kProcesses) std::abort();
    total +=
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    sample.walk = walk_at(1'000 + 10 * static_cast<std::uint64_t>(round));
    count_waits(sample);
    timed(new_walk_ms);
    timed(same_walk_ms);
  }
  std::printf("new walk %.2f ms, same walk %.2f ms\n", new_walk_ms / kRounds,
              same_walk_ms / kRounds);
  return 0;
}
