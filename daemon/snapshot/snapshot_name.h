// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "snapshot/snapshot.h"

namespace offcpud {

// What the name of a snapshot's file says of it, so that listing a directory opens no file:
//   20261120T132028.250Z+60000ms-00000000000000000042.pb.gz
// Begin in UTC and the time up to the end, both cut to milliseconds; the sequence number; and
// "-partial" after it where the interval was cut short. Sorted by name they are in the order of
// their begin, then of their sequence.
struct SnapshotName {
  std::uint64_t sequence = 0;
  WallTime begin, end;
  bool partial = false;

  static SnapshotName of(const Snapshot& snapshot);

  // nullopt: not a name of this form, to the last character, or a number that no daemon gets to:
  // those of the snapshots to come are larger and must fit, too.
  static std::optional<SnapshotName> parse(std::string_view file);

  [[nodiscard]] std::string text() const;

  friend bool operator==(const SnapshotName&, const SnapshotName&) = default;
};

// Name of the file while it is written; those of a crash are found by it.
std::string temporary_name(std::string_view file);
bool is_temporary_name(std::string_view file);

}  // namespace offcpud
