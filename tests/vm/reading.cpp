// SPDX-License-Identifier: Apache-2.0
#include "reading.h"

#include <cstddef>

#include "report.h"

namespace offcpud::test {

Counts operator-(const Counts& a, const Counts& b) {
  Counts d;
  d.running_ns = a.running_ns - b.running_ns;
  d.blocked_ns = a.blocked_ns - b.blocked_ns;
  d.queued_ns = a.queued_ns - b.queued_ns;
  d.blocked = a.blocked - b.blocked;
  for (std::size_t i = 0; i < d.episodes.size(); ++i) {
    d.episodes[i] = a.episodes[i] - b.episodes[i];
    d.sums[i] = a.sums[i] - b.sums[i];
  }
  return d;
}

KernelReading sample(BpfReadingSource& source) {
  return must(source.read(), "read");
}

Counts counts_of(const KernelReading& read, std::uint64_t cgroup_id) {
  Counts counts;
  for (const CgroupReading& cgroup : read.cgroups) {
    if (cgroup.cgroup_id != cgroup_id) continue;
    counts.running_ns = cgroup.running_ns;
    for (std::size_t kind = 0; kind < OFFCPUD_HIST_KINDS; ++kind) {
      if (!cgroup.histograms[kind]) continue;
      counts.episodes[kind] = cgroup.histograms[kind]->count();
      counts.sums[kind] = cgroup.histograms[kind]->sum_ns;
      (kind < OFFCPUD_BLOCKED_KINDS ? counts.blocked_ns : counts.queued_ns) += counts.sums[kind];
      if (kind < OFFCPUD_BLOCKED_KINDS) counts.blocked += counts.episodes[kind];
    }
  }
  return counts;
}

std::uint64_t total(const std::vector<LossCount>& losses) {
  std::uint64_t sum = 0;
  for (const LossCount& loss : losses) sum += loss.events;
  return sum;
}

std::string in_words(const std::vector<LossCount>& losses) {
  std::string words;
  for (const LossCount& loss : losses) {
    words += text(" %s=%llu", loss.cause.c_str(), static_cast<unsigned long long>(loss.events));
  }
  return words.substr(1);
}

}  // namespace offcpud::test
