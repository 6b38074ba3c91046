// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace offcpud {

// Why a snapshot could not be written, kept or read: value of the label `cause` of
// offcpud_snapshot_failures_total.
enum class SnapshotFailure : std::size_t {
  DiskFull,    // no room on the disk or in the quota, even if older snapshots were removed
  ReadOnly,    // the file system is mounted read-only
  Permission,  // the directory cannot be created, entered or written
  Directory,   // missing, a link, or not a directory
  InUse,       // another daemon writes to the directory
  Io,          // any other system error
  TooLarge,    // too large for a file, or larger than keep_bytes
  QueueFull,   // disk too slow: the oldest waiting one was dropped; or too many waited for names
  Unreadable,  // a stored snapshot is damaged
  Count
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(SnapshotFailure::Count)>
    kSnapshotFailureNames = {"disk_full", "read_only", "permission", "directory", "in_use",
                             "io",        "too_large", "queue_full", "unreadable"};

constexpr std::string_view name_of(SnapshotFailure cause) {
  return kSnapshotFailureNames[static_cast<std::size_t>(cause)];
}
static_assert(!kSnapshotFailureNames.back().empty(), "each SnapshotFailure has a name");

// The cause for an errno.
SnapshotFailure snapshot_failure_of(int code);

}  // namespace offcpud
