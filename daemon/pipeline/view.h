// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "histogram/latency_histogram.h"
#include "offcpud.h"

namespace offcpud {

// All series of one cgroup path. Histograms are null until the first episode.
struct SubjectSeries {
  std::shared_ptr<const SubjectLabels> labels;  // never null; kept between passes
  std::uint64_t running_ns = 0;
  std::array<std::shared_ptr<const LatencyHistogram>, OFFCPUD_HIST_KINDS> histograms;
};

struct LossCount {
  std::string cause;  // value of the label `cause`
  std::uint64_t events = 0;
};

struct MapUsage {
  std::string map;
  std::uint64_t entries = 0;
  std::uint64_t capacity = 0;
};

// What one pass found, immutable once published: written by the pipeline's thread, read by any
// number of HTTP threads through a shared_ptr. Counters never go down from one View to the next.
struct View {
  MonotonicTime taken;
  WallTime taken_wall;
  std::vector<SubjectSeries> subjects;  // sorted by cgroup; no path twice
  std::vector<LossCount> losses;        // every cause, also those at 0
  std::uint64_t left_censored = 0;
  std::vector<MapUsage> maps;
  std::uint64_t histogram_series = 0;  // histograms in `subjects`
  std::uint64_t folded_series =
      0;  // histograms that did not fit since the start, summed in "(other)"
};

}  // namespace offcpud
