// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attribution/subject.h"
#include "base/clock.h"
#include "disk.h"

namespace offcpud {

// Values of the label `operation`, by enum offcpud_disk_operation.
inline constexpr std::array<std::string_view, OFFCPUD_DISK_OPERATIONS> kDiskOperations = {
    "read", "write", "discard"};

// Requests that were done.
struct DiskLoad {
  std::array<std::uint64_t, OFFCPUD_DISK_OPERATIONS> bytes{}, requests{};
  // From the beginning of each request to its end; requests overlap. io.stat does not tell it.
  std::uint64_t request_ns = 0;

  DiskLoad& operator+=(const DiskLoad& other) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] += other.bytes[i];
      requests[i] += other.requests[i];
    }
    request_ns += other.request_ns;
    return *this;
  }
  friend bool operator==(const DiskLoad&, const DiskLoad&) = default;
};

// What `now` has beyond `before`, both of one counter; all of `now` if that began anew.
inline DiskLoad increase_of(const DiskLoad& before, const DiskLoad& now) {
  DiskLoad more;
  for (std::size_t i = 0; i < now.bytes.size(); ++i) {
    if (now.bytes[i] < before.bytes[i] || now.requests[i] < before.requests[i]) return now;
    more.bytes[i] = now.bytes[i] - before.bytes[i];
    more.requests[i] = now.requests[i] - before.requests[i];
  }
  if (now.request_ns < before.request_ns) return now;
  more.request_ns = now.request_ns - before.request_ns;
  return more;
}

// What a cgroup has done to a disk since the last reading, as the kernel programs count it.
struct DiskLoadReading {
  std::string disk;             // the kernel's name of the whole disk: "vda"
  std::uint64_t cgroup_id = 0;  // or OFFCPUD_LOADER_... (disk.h)
  DiskLoad load;
};

// The same as io.stat tells it, for a path.
struct DiskLoadOfPath {
  std::string disk;
  std::string cgroup;  // or "(unknown)"
  DiskLoad load;
};

// Who loaded which disk: a cgroup, "(kernel)" for nobody knows whom, "(other)" for those that are
// not named, "(removed)" for those that were, or "(unknown)".
struct DiskLoadRow {
  std::string disk;
  std::shared_ptr<const SubjectLabels> by;  // never null
  DiskLoad load;
};

// What happened between two passes. Immutable.
struct DiskLoadStep {
  MonotonicTime begin, end;
  std::vector<DiskLoadRow> rows;  // no pair twice

  [[nodiscard]] std::chrono::nanoseconds length() const { return end - begin; }
};

// The whole disks of each device on which threads waited, by name: {"vda1": {"vda"}}. A file system
// without a device has none.
using DisksOfDevices = std::map<std::string, std::vector<std::string>>;

}  // namespace offcpud
