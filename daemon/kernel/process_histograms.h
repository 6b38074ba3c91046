// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "kernel/bpf_session.h"
#include "kernel/map_view.h"
#include "offcpud.h"
#include "pipeline/reading_source.h"

namespace offcpud {

// The histograms of every process in the kernel maps. A read copies only histograms that changed
// since the last read. Used by one thread; the session must outlive it.
class ProcessHistograms {
 public:
  static Result<ProcessHistograms> open(const BpfSession& session);

  // Leaves out a process that ends while it is read.
  std::vector<ProcessReading> read();

  // How full the maps were at the last read().
  [[nodiscard]] std::vector<MapUsage> usage() const;

 private:
  struct Copy {  // of a histogram, from the last read
    std::uint32_t place = 0;
    std::shared_ptr<const LatencyHistogram> histogram;
  };
  struct Known {
    std::uint64_t start_ns = 0;
    std::uint32_t tgid = 0;
    std::array<Copy, OFFCPUD_HIST_KINDS> copies;
  };

  ProcessHistograms(MappedArray<offcpud_process> processes, MappedArray<offcpud_hist> hists)
      : processes_(std::move(processes)), hists_(std::move(hists)), known_(processes_.size()) {}

  void refresh(Copy& copy, std::uint32_t place);

  MappedArray<offcpud_process> processes_;
  MappedArray<offcpud_hist> hists_;
  std::vector<std::unique_ptr<Known>> known_;  // by element of the map `processes`
  std::uint64_t processes_used_ = 0;
  std::uint64_t hists_used_ = 0;
};

}  // namespace offcpud
