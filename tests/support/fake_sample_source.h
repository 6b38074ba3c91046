// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/sample_source.h"

namespace offcpud {

// A kernel of a few counters: what a test charges, a pass reads, with ids retired for good.
class FakeSampleSource final : public SampleSource {
 public:
  void charge(std::uint64_t cgroup_id, offcpud_hist_kind kind, std::uint64_t ns,
              unsigned times = 1) {
    LatencyHistogram& histogram = counters_[cgroup_id].histograms[kind];
    histogram.slots[offcpud_slot(ns)] += times;
    histogram.sum_ns += ns * times;
  }
  void run(std::uint64_t cgroup_id, std::uint64_t ns) { counters_[cgroup_id].running_ns += ns; }
  void miss_cgroup_changes() { missed_changes_ = true; }
  void fail_next_read(Error error) { failure_ = std::move(error); }
  [[nodiscard]] const std::vector<std::uint64_t>& retired() const { return retired_; }

  Result<KernelSample> read() override {
    if (failure_) {
      Error error = *std::move(failure_);
      failure_.reset();
      return error;
    }
    KernelSample sample;
    sample.missed_cgroup_changes = std::exchange(missed_changes_, false);
    for (const auto& [id, counters] : counters_) sample.cgroups.push_back(reading(id, counters));
    return sample;
  }

  Result<std::vector<CgroupReading>> retire(std::span<const std::uint64_t> cgroup_ids) override {
    std::vector<CgroupReading> last;
    for (const std::uint64_t id : cgroup_ids) {
      const auto found = counters_.find(id);
      if (found == counters_.end()) continue;
      last.push_back(reading(id, found->second));
      counters_.erase(found);
      retired_.push_back(id);
    }
    return last;
  }

 private:
  struct Counters {
    std::uint64_t running_ns = 0;
    std::map<offcpud_hist_kind, LatencyHistogram> histograms;
  };

  static CgroupReading reading(std::uint64_t id, const Counters& counters) {
    CgroupReading reading;
    reading.cgroup_id = id;
    reading.running_ns = counters.running_ns;
    for (const auto& [kind, histogram] : counters.histograms) {
      reading.histograms[kind] = std::make_unique<LatencyHistogram>(histogram);
    }
    return reading;
  }

  std::map<std::uint64_t, Counters> counters_;
  std::optional<Error> failure_;
  bool missed_changes_ = false;
  std::vector<std::uint64_t> retired_;
};

}  // namespace offcpud
