// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "snapshot/difference.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// What was merged into a snapshot that is shown.
struct MergedFrom {
  std::size_t snapshots = 0;
  std::size_t unreadable = 0;
};

// A snapshot for a page that draws it: tables of strings, frames and stacks, and rows of numbers
// that refer to them; docs/http.md says which. Texts become valid UTF-8.
std::string snapshot_json(const Snapshot& snapshot, const MergedFrom& from);

// The same with what each row took in the earlier range.
std::string snapshot_json(const StackDifference& difference, const MergedFrom& from,
                          const MergedFrom& base);

// What these say of themselves besides, in one line: for formats that have no place for it.
std::string snapshot_summary(const Snapshot& snapshot, const MergedFrom& from);
std::string snapshot_summary(const StackDifference& difference, const MergedFrom& from,
                             const MergedFrom& base);

}  // namespace offcpud
