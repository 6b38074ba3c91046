// SPDX-License-Identifier: Apache-2.0
// What the kernel counted, as plain numbers: for one cgroup, and what it says it lost.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/bpf_reading_source.h"
#include "offcpud.h"

namespace offcpud::test {

struct Counts {
  std::uint64_t running_ns = 0, blocked_ns = 0, queued_ns = 0, blocked = 0;
  std::array<std::uint64_t, OFFCPUD_HIST_KINDS> episodes{}, sums{};

  friend Counts operator-(const Counts& a, const Counts& b);
};

KernelReading sample(BpfReadingSource& source);
Counts counts_of(const KernelReading& read, std::uint64_t cgroup_id);

std::uint64_t total(const std::vector<LossCount>& losses);
std::string in_words(const std::vector<LossCount>& losses);

}  // namespace offcpud::test
