// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/reading_source.h"

namespace offcpud {

// A kernel of a few counters: what a test charges, a pass reads, in places that are never reused.
class FakeReadingSource final : public ReadingSource {
 public:
  void charge(std::uint64_t cgroup_id, offcpud_hist_kind kind, std::uint64_t ns,
              unsigned times = 1) {
    LatencyHistogram& histogram = counters_of(cgroup_id).histograms[kind];
    histogram.slots[offcpud_slot(ns)] += times;
    histogram.sum_ns += ns * times;
  }
  void run(std::uint64_t cgroup_id, std::uint64_t ns) { counters_of(cgroup_id).running_ns += ns; }
  void preempt(std::uint64_t cgroup_id, offcpud_taker by, std::uint64_t times = 1) {
    counters_of(cgroup_id).preemptions[by] += times;
  }
  // `taker`: cgroup id, or OFFCPUD_TAKEN_BY_...
  void keep_off(std::uint64_t cgroup_id, std::uint64_t taker, std::uint64_t ns) {
    kept_off_.push_back({cgroup_id, taker, ns});
  }
  // `cgroup_id`: or OFFCPUD_LOADER_...
  void load_disk(const std::string& disk, std::uint64_t cgroup_id, const DiskLoad& load) {
    disk_loads_.push_back({disk, cgroup_id, load});
  }
  void wake(std::uint64_t cgroup_id, offcpud_waker from, std::uint64_t times = 1) {
    counters_of(cgroup_id).wakeups[from] += times;
  }
  // Lifetime of ended threads that was in no counter; may be negative.
  void leave_out(std::uint64_t cgroup_id, std::int64_t ns) {
    counters_of(cgroup_id).unaccounted_ns += static_cast<std::uint64_t>(ns);
  }
  void set_walk(std::shared_ptr<const ThreadWalk> walk) { walk_ = std::move(walk); }
  void count_no_disk_loads() { counts_disk_loads_ = false; }
  void miss_cgroup_changes() { missed_changes_ = true; }
  void fail_next_read(Error error) { failure_ = std::move(error); }
  [[nodiscard]] const std::vector<std::uint64_t>& closed() const { return closed_; }

  Result<KernelReading> read() override {
    if (failure_) {
      Error error = *std::move(failure_);
      failure_.reset();
      return error;
    }
    KernelReading sample;
    sample.missed_cgroup_changes = std::exchange(missed_changes_, false);
    for (const auto& [id, counters] : counters_) sample.cgroups.push_back(reading(id, counters));
    sample.closed = std::exchange(closing_, {});
    sample.kept_off = std::exchange(kept_off_, {});
    sample.disk_loads = std::exchange(disk_loads_, {});
    sample.counts_disk_loads = counts_disk_loads_;
    sample.walk = walk_;
    return sample;
  }

  Result<std::vector<WaitReport>> describe(const ThreadWalk& /*walk*/,
                                           std::span<const std::uint32_t> tids) override {
    std::vector<WaitReport> reports;
    for (const std::uint32_t tid : tids) {
      if (const auto found = waits.find(tid); found != waits.end()) {
        reports.push_back(found->second);
      }
    }
    return reports;
  }
  void watch_stalls(const StallFilter& filter) override { watched = filter; }
  void close(std::span<const std::uint64_t> cgroup_ids) override {
    for (const std::uint64_t id : cgroup_ids) {
      const auto found = counters_.find(id);
      if (found == counters_.end()) continue;
      closing_.push_back(reading(id, found->second));
      counters_.erase(found);
      closed_.push_back(id);
    }
  }

 private:
  struct Counters {
    std::uint32_t place = 0;
    std::uint64_t running_ns = 0;
    std::array<std::uint64_t, OFFCPUD_TAKERS> preemptions{};
    std::array<std::uint64_t, OFFCPUD_WAKERS> wakeups{};
    std::uint64_t unaccounted_ns = 0;
    std::map<offcpud_hist_kind, LatencyHistogram> histograms;
  };

  Counters& counters_of(std::uint64_t id) {
    Counters& counters = counters_[id];
    if (counters.place == 0) counters.place = next_place_++;
    return counters;
  }

  static CgroupReading reading(std::uint64_t id, const Counters& counters) {
    CgroupReading reading;
    reading.cgroup_id = id;
    reading.place = counters.place;
    reading.running_ns = counters.running_ns;
    reading.preemptions = counters.preemptions;
    reading.wakeups = counters.wakeups;
    reading.unaccounted_ns = counters.unaccounted_ns;
    for (const auto& [kind, histogram] : counters.histograms) {
      reading.histograms[kind] = std::make_unique<LatencyHistogram>(histogram);
    }
    return reading;
  }

  std::map<std::uint64_t, Counters> counters_;
  std::shared_ptr<const ThreadWalk> walk_;
  std::optional<Error> failure_;
  bool missed_changes_ = false;
  std::vector<CgroupReading> closing_;
  std::vector<KeptOffIncrease> kept_off_;
  std::vector<DiskLoadReading> disk_loads_;
  bool counts_disk_loads_ = true;
  std::vector<std::uint64_t> closed_;
  std::uint32_t next_place_ = 1;

  StallFilter watched;
  std::map<std::uint32_t, WaitReport> waits;  // what describe() finds, by tid
};

}  // namespace offcpud
