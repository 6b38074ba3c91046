// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>

#include "base/result.h"
#include "base/unique_handle.h"
#include "symbols/rooted_path.h"

namespace offcpud {

// A process, which no later one with the same number is taken for.
struct PerfMapProcess {
  std::uint32_t tgid = 0;
  std::uint64_t start_ns = 0;  // CLOCK_BOOTTIME of its leader; 0: not known
  friend bool operator<(const PerfMapProcess& a, const PerfMapProcess& b) {
    return std::tie(a.tgid, a.start_ns) < std::tie(b.tgid, b.start_ns);
  }
};

// What tells one state of a file from another.
struct PerfMapVersion {
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  bool operator==(const PerfMapVersion&) const = default;
};

struct FoundPerfMap {
  UniqueFd file;  // a regular one of the user that the process runs as
  PerfMapVersion version;
};

// Seam: the file is found in directories that belong to others, who may have whoever looks into
// them wait (daemon/reader). Used by one thread.
class PerfMapFinder {
 public:
  virtual ~PerfMapFinder() = default;
  // The error says why there is none: the process may be gone.
  virtual Result<FoundPerfMap> find(const PerfMapProcess& process) = 0;
};

// Where the perf map of a process has to be, and who has to own it: in its own mount and PID
// namespace, as the user that it runs as.
struct PerfMapPlace {
  RootDirectory root;
  std::string path;
  uid_t owner = 0;
};
Result<PerfMapPlace> find_perf_map(const std::filesystem::path& proc,
                                   const PerfMapProcess& process);
Status check_owner(const PerfMapPlace& place, uid_t owner);

// Finds it itself.
class ProcPerfMapFinder final : public PerfMapFinder {
 public:
  explicit ProcPerfMapFinder(std::filesystem::path proc) : proc_(std::move(proc)) {}
  Result<FoundPerfMap> find(const PerfMapProcess& process) override;

 private:
  std::filesystem::path proc_;
};

}  // namespace offcpud
