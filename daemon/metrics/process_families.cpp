// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "base/hist_kind.h"
#include "base/text.h"
#include "metrics/row_families.h"

namespace offcpud {
namespace {

bool has_episodes(const ProcessRow& row, std::size_t kind) {
  return row.histograms[kind] && !row.histograms[kind]->empty();
}

void append_blocked(SeriesWriter& out, const ProcessRow& row, std::size_t kind) {
  if (has_episodes(row, kind)) append_kind(out, row, "reason", kind);
}

void append_runqueue_wait(SeriesWriter& out, const ProcessRow& row, std::size_t cause) {
  const std::size_t kind = OFFCPUD_BLOCKED_KINDS + cause;
  if (has_episodes(row, kind)) append_kind(out, row, "cause", kind);
}

void append_oldest_blocked(SeriesWriter& out, const ProcessRow& row, std::size_t kind) {
  if (row.oldest_blocked[kind].ns == 0 && !row.histograms[kind]) return;
  out.seconds({{"reason", kHistKindNames[kind]}}, row.oldest_blocked[kind].ns);
}

constexpr auto kProcessFamilies = std::to_array<RowFamily<ProcessRow>>({
    {Metric::ProcessBlockedSeconds, OFFCPUD_BLOCKED_KINDS, append_blocked},
    {Metric::ProcessRunqueueWaitSeconds, kRunqueueKinds, append_runqueue_wait},
    {Metric::ProcessOldestBlocked, OFFCPUD_BLOCKED_KINDS, append_oldest_blocked},
});

}  // namespace

std::span<const RowFamily<ProcessRow>> process_families() {
  return kProcessFamilies;
}

void share_labels(SeriesWriter& out, const ProcessRow& row) {
  const std::string pid = std::to_string(row.pid);
  const std::string comm = to_valid_utf8(row.comm);  // any process chooses its own
  out.share_labels(std::array<Label, 3>{
      {{"pid", pid}, {"comm", comm}, {"cgroup", row.labels ? row.labels->cgroup : ""}}});
}

}  // namespace offcpud
