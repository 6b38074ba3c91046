// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/hist_kind.h"
#include "sample.h"
#include "snapshot/reason_intervals.h"

namespace offcpud {

// A stratum is the blocks of one reason in one row of processes (bpf/sample.h). Strata are numbered
// row after row, as in the kernel's table.
inline constexpr std::size_t kStrata = OFFCPUD_SAMPLE_STRATA;

constexpr std::size_t stratum_at(std::uint32_t row, std::uint32_t kind) {
  return (std::size_t{row} * OFFCPUD_SAMPLE_REASONS + kind) % kStrata;
}

inline std::size_t stratum_of(const offcpud_sample& sample) {
  const bool kernel_thread = (sample.flags & OFFCPUD_SAMPLE_KERNEL_THREAD) != 0;
  return stratum_at(offcpud_sample_row(sample.tgid, kernel_thread ? 1 : 0), sample.kind);
}

// The sampling interval of every stratum.
struct SamplingIntervals {
  explicit SamplingIntervals(std::chrono::nanoseconds all) { of.fill(all); }

  [[nodiscard]] ReasonIntervals longest() const {
    ReasonIntervals found{};
    for (std::size_t stratum = 0; stratum < kStrata; ++stratum) {
      const std::size_t kind = stratum % OFFCPUD_SAMPLE_REASONS;
      if (is_blocked_kind(kind)) found[kind] = std::max(found[kind], of[stratum]);
    }
    return found;
  }

  // By row of processes.
  [[nodiscard]] std::array<std::chrono::nanoseconds, OFFCPUD_SAMPLE_ROWS> longest_of_rows() const {
    std::array<std::chrono::nanoseconds, OFFCPUD_SAMPLE_ROWS> rows{};
    for (std::size_t stratum = 0; stratum < kStrata; ++stratum) {
      if (!is_blocked_kind(stratum % OFFCPUD_SAMPLE_REASONS)) continue;
      auto& row = rows.at(stratum / OFFCPUD_SAMPLE_REASONS);
      row = std::max(row, of.at(stratum));
    }
    return rows;
  }

  friend bool operator==(const SamplingIntervals&, const SamplingIntervals&) = default;

  std::array<std::chrono::nanoseconds, kStrata> of;
};

}  // namespace offcpud
