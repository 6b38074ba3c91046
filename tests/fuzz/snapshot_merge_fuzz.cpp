// SPDX-License-Identifier: Apache-2.0
// Sums and differences of snapshots: nothing is lost, in either order.
#include <cmath>

#include "fuzz.h"
#include "snapshot/difference.h"
#include "snapshot/pprof.h"
#include "snapshot/snapshot_merge.h"
#include "snapshots_input.h"
#include "support/snapshots.h"

namespace offcpud::fuzz {
namespace {

Snapshot sum_of(const Snapshot& a, const Snapshot& b, const SnapshotFilter& filter = {}) {
  SnapshotSum sum(filter);
  sum.add(a);
  sum.add(b);
  return sum.take();
}

}  // namespace

void test(std::string_view input) {
  ByteReader in(bytes_of(input));
  SnapshotFilter filter;
  filter.frames = static_cast<SnapshotFilter::Frames>(in.take<std::uint8_t>() % 3);
  filter.threads = static_cast<SnapshotFilter::Threads>(in.take<std::uint8_t>() % 3);
  const Snapshot a = take_snapshot(in), b = take_snapshot(in);
  const std::uint64_t total = test::total_ns(a) + test::total_ns(b);

  const Snapshot sum = sum_of(a, b);
  require(test::total_ns(sum) == total, "a sum has the time of its parts");
  require(test::amounts(sum) == test::amounts(sum_of(b, a)), "in any order");
  require(sum.duration == a.covered() + b.covered(), "and their length");
  require(sum.entries.size() <= a.entries.size() + b.entries.size(), "and no more entries");
  require(test::total_ns(sum_of(a, b, filter)) <= total, "a filter adds nothing");

  const StackDifference difference = difference_of(a, b, Normalize::No);
  require(difference.before.size() == difference.after.entries.size(), "each stack has both");
  std::uint64_t before = 0;
  for (const StackAmount& amount : difference.before) before += amount.ns;
  require(before == test::total_ns(a) && test::total_ns(difference.after) == test::total_ns(b),
          "a difference has the time of both");
  const auto none = pprof_of(difference_of(a, a, Normalize::ToLater));
  require(none && snapshot_of_pprof(*none)->entries.empty(), "two equal ranges do not differ");
}

std::vector<std::string> seeds() {
  return snapshot_seeds();
}

}  // namespace offcpud::fuzz
