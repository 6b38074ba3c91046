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

// Identifies a process among all that have or had its number.
struct PerfMapProcess {
  std::uint32_t tgid = 0;
  std::uint64_t start_ns = 0;  // CLOCK_BOOTTIME of its leader; 0: unknown
  friend bool operator<(const PerfMapProcess& a, const PerfMapProcess& b) {
    return std::tie(a.tgid, a.start_ns) < std::tie(b.tgid, b.start_ns);
  }
};

// Identifies one state of a file.
struct PerfMapVersion {
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  bool operator==(const PerfMapVersion&) const = default;
};

struct FoundPerfMap {
  UniqueFd file;  // a regular file of the user as whom the process runs
  PerfMapVersion version;
};

// Finds perf maps. An interface, because the file is in directories of others, who can make reads
// there wait (daemon/reader). Used by one thread.
class PerfMapFinder {
 public:
  virtual ~PerfMapFinder() = default;
  // The error says why there is none; the process may be gone.
  virtual Result<FoundPerfMap> find(const PerfMapProcess& process) = 0;
};

// Where the perf map of a process must be, in its own mount and PID namespace, and who must own it:
// the user as whom the process runs.
struct PerfMapPlace {
  RootDirectory root;
  std::string path;
  uid_t owner = 0;
};
Result<PerfMapPlace> find_perf_map(const std::filesystem::path& proc,
                                   const PerfMapProcess& process);
Status check_owner(const PerfMapPlace& place, uid_t owner);

// Reads the files itself, without a reader process.
class ProcPerfMapFinder final : public PerfMapFinder {
 public:
  explicit ProcPerfMapFinder(std::filesystem::path proc) : proc_(std::move(proc)) {}
  Result<FoundPerfMap> find(const PerfMapProcess& process) override;

 private:
  std::filesystem::path proc_;
};

}  // namespace offcpud
