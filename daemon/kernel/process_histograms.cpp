// SPDX-License-Identifier: Apache-2.0
#include "kernel/process_histograms.h"

#include <atomic>

#include "offcpud.skel.h"

namespace offcpud {
namespace {

// Atomic, because the programs write at the same time.
template <class T>
T load(T& shared) {
  return std::atomic_ref<T>(shared).load(std::memory_order_acquire);
}

// A process that found no free histogram may get one at its next wait.
void try_again(__u32& place) {
  __u32 refused = OFFCPUD_NO_HIST;
  std::atomic_ref<__u32>(place).compare_exchange_strong(refused, 0);
}

constexpr std::size_t kReserve = 16;  // free histograms; with fewer, refusals would recur at once

}  // namespace

Result<ProcessHistograms> ProcessHistograms::open(const BpfSession& session) {
  const offcpud_bpf& skeleton = session.skeleton();
  TRY(auto processes, MappedArray<offcpud_process>::map(skeleton.maps.processes, true));
  TRY(auto hists, MappedArray<offcpud_hist>::map(skeleton.maps.process_hists, true));
  return ProcessHistograms(std::move(processes), std::move(hists));
}

std::vector<ProcessReading> ProcessHistograms::read() {
  std::vector<ProcessReading> readings;
  const bool room = hists_used_ + kReserve < hists_.size();  // at the last read
  hists_used_ = 0;
  for (std::size_t i = 1; i < processes_.size(); ++i) {
    offcpud_process& process = processes_[i];
    const std::uint32_t tgid = load(process.tgid);
    if (tgid == 0) {
      known_[i].reset();
      continue;
    }
    const std::uint64_t start_ns = load(process.start_ns);
    if (!known_[i] || known_[i]->tgid != tgid || known_[i]->start_ns != start_ns) {
      known_[i] = std::make_unique<Known>(Known{start_ns, tgid, {}});
    }
    ProcessReading reading{.start_ns = start_ns, .tgid = tgid, .histograms = {}};
    for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
      Copy& copy = known_[i]->copies[kind];
      refresh(copy, load(process.hists[kind]));
      if (room) try_again(process.hists[kind]);
      reading.histograms[kind] = copy.histogram;
    }
    if (load(process.tgid) != tgid || load(process.start_ns) != start_ns) {
      known_[i].reset();
      continue;
    }
    readings.push_back(std::move(reading));
  }
  processes_used_ = readings.size();
  return readings;
}

void ProcessHistograms::refresh(Copy& copy, std::uint32_t place) {
  if (place == 0 || place >= hists_.size()) {  // it has none: no wait yet, or no room
    copy = {};
    return;
  }
  ++hists_used_;
  offcpud_hist& hist = hists_[place];
  // Also compares slot 0: episodes of 0 ns count there and add nothing to the sum.
  if (copy.histogram && copy.place == place && copy.histogram->sum_ns == load(hist.sum_ns) &&
      copy.histogram->slots[0] == load(hist.slots[0])) {
    return;
  }
  auto histogram = std::make_shared<LatencyHistogram>();
  *histogram += hist;
  copy = {place, histogram->empty() ? nullptr : std::move(histogram)};
}

std::vector<MapUsage> ProcessHistograms::usage() const {
  return {{"processes", processes_used_, processes_.size() - 1},
          {"process_hists", hists_used_, hists_.size() - 1}};
}

}  // namespace offcpud
