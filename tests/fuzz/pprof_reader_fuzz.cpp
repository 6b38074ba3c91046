// SPDX-License-Identifier: Apache-2.0
// Files of snapshots as somebody else may have written them: as they are, or compressed here, as
// mutations of compressed bytes reach nothing but zlib.
#include "fuzz.h"
#include "snapshot/folded_text.h"
#include "snapshot/gzip.h"
#include "snapshot/pprof.h"
#include "snapshot/snapshot_filter.h"
#include "snapshot/snapshot_merge.h"
#include "snapshots_input.h"
#include "support/snapshots.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  const bool raw = input.starts_with('R');
  const std::string_view rest = input.substr(std::min<std::size_t>(1, input.size()));
  const auto packed = gzip(rest);
  require(static_cast<bool>(packed), "gzip takes any bytes");
  const auto read = snapshot_of_pprof(raw ? rest : std::string_view(*packed));
  if (!read) return;
  for (const StackFrame& frame : read->frames) {
    require(frame.address == 0 || may_have_address(frame), "addresses are those of objects");
  }
  for (const StackEntry& entry : read->entries) {
    for (const auto* stack : {&entry.user, &entry.kernel, &entry.waker_user, &entry.waker_kernel}) {
      for (const std::uint32_t id : *stack) require(id < read->frames.size(), "frames exist");
    }
    require(entry.reason < OFFCPUD_HIST_KINDS, "reasons exist");
  }
  // It is merged with others, shown and written again.
  SnapshotSum sum{SnapshotFilter()};
  sum.add(*read);
  sum.add(*read);
  const Snapshot merged = sum.take();
  (void)difference_of(*read, merged, Normalize::ToLater);
  (void)test::read_all(FoldedText(*read, {.wakers = true}));
  const auto written = pprof_of(*read);
  if (written) require(static_cast<bool>(snapshot_of_pprof(*written)), "what is written is read");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const Snapshot& snapshot : {test::ordinary_snapshot(), test::hostile_snapshot(),
                                   test::random_snapshot(1, 5), test::random_snapshot(2, 20)}) {
    const auto packed = pprof_of(snapshot);
    if (!packed) continue;
    all.push_back("R" + *packed);
    if (const auto plain = gunzip(*packed, kMostPprofBytes)) all.push_back("x" + *plain);
  }
  return all;
}

}  // namespace offcpud::fuzz
