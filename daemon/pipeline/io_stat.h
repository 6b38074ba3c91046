// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/disk_load.h"

namespace offcpud {

// One line of io.stat (Documentation/admin-guide/cgroup-v2.rst, "IO Interface Files"). Values of
// missing keys are 0, and request_ns always is.
struct IoStatLine {
  std::uint32_t device = 0;  // a dev_t of the kernel, of a whole disk
  DiskLoad load;
};

// Leaves out lines and keys that it does not know, because newer kernels add keys.
std::vector<IoStatLine> parse_io_stat(std::string_view text);

// Tells which cgroup loads which disk, by the files io.stat, which exist where the io controller of
// cgroup v2 is on. Reads files of the cgroup file system only. Used by one thread.
class IoStat {
 public:
  // Files that one call of read() reads. If there are more cgroups, they take turns.
  static constexpr std::size_t kMostFiles = 256;

  using NameOf = std::function<std::string(std::uint32_t device)>;
  // `root`: mount point of the v2 hierarchy. `name_of`: the name of a disk.
  IoStat(std::filesystem::path root, NameOf name_of)
      : root_(std::move(root)), name_of_(std::move(name_of)) {}

  // Returns the load since the last call. `paths`: cgroups that have or had threads. A cgroup
  // without an io.stat of its own is counted in its nearest ancestor that has one. What the kernel
  // charged to none of them, usually write-back, is "(unknown)".
  std::vector<DiskLoadOfPath> read(std::span<const std::string> paths);

  // Call it when read() will not be called for a while. The next call of read() then returns
  // nothing: counting begins anew.
  void forget() { last_.clear(); }

 private:
  using ByDevice = std::map<std::uint32_t, DiskLoad>;
  [[nodiscard]] std::set<std::string> owners_of(std::span<const std::string> paths) const;
  // What the cgroup has gained; nothing at its first reading.
  ByDevice read_one(const std::string& path);

  std::filesystem::path root_;
  NameOf name_of_;
  std::map<std::string, ByDevice> last_;  // by cgroup
  std::string turn_;                      // the last cgroup that was read
};

}  // namespace offcpud
