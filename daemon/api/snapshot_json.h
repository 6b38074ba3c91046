// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "snapshot/difference.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// How many snapshots were merged into one that is shown.
struct MergedFrom {
  std::size_t snapshots = 0;
  std::size_t unreadable = 0;  // files that are missing from the sum
};

// A snapshot as JSON for a page that draws it: tables of strings, frames and stacks, and rows of
// numbers that refer to them (docs/http.md). Texts become valid UTF-8.
std::string snapshot_json(const Snapshot& snapshot, const MergedFrom& from);

// The same; each row also has its amount in the earlier range.
std::string snapshot_json(const StackDifference& difference, const MergedFrom& from,
                          const MergedFrom& base);

// One line of JSON about the whole, for formats that have no place for it.
std::string snapshot_summary(const Snapshot& snapshot, const MergedFrom& from);
std::string snapshot_summary(const StackDifference& difference, const MergedFrom& from,
                             const MergedFrom& base);

}  // namespace offcpud
