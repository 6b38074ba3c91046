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

// What the name of a snapshot's file contains, so that listing a directory opens no file:
//   20261120T132028.250Z+60000ms-00000000000000000042.pb.gz
// That is the begin in UTC and the time until the end, both truncated to milliseconds; the sequence
// number; and "-partial" after it if the interval ended early. Names sort by begin, then by
// sequence.
struct SnapshotName {
  std::uint64_t sequence = 0;
  WallTime begin, end;
  bool partial = false;

  static SnapshotName of(const Snapshot& snapshot);

  // nullopt: not a name of exactly this form, or with a sequence number so large that later ones
  // might not fit.
  static std::optional<SnapshotName> parse(std::string_view file);

  [[nodiscard]] std::string text() const;

  friend bool operator==(const SnapshotName&, const SnapshotName&) = default;
};

// The name of the file while it is written, by which files left by a crash are recognized.
std::string temporary_name(std::string_view file);
bool is_temporary_name(std::string_view file);

}  // namespace offcpud
