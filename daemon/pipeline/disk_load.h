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
  // The sum of their times, each from the beginning of the request to its end. Requests overlap. 0
  // if they come from io.stat, which has no times.
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

// The increase from `before` to `now`, two readings of one counter. If the counter was reset in
// between, it is all of `now`.
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

// The same for the path of a cgroup, as io.stat counts it.
struct DiskLoadOfPath {
  std::string disk;
  std::string cgroup;  // or "(unknown)"
  DiskLoad load;
};

// The load of one disk by one cgroup. Or by "(kernel)": kernel threads, on behalf of nobody known;
// "(other)": cgroups that are not named; "(removed)": cgroups that are no longer named;
// "(unknown)".
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
