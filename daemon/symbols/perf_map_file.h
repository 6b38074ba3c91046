// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_handle.h"
#include "symbols/perf_map.h"

namespace offcpud {

// /tmp/perf-PID.map of one process, in its own mount and PID namespace: JVM (jcmd PID
// Compiler.perfmap), Node (--perf-basic-prof), Python 3.12 (-X perf) and others write it. It is
// read again when it changed, at most every kInterval; of a large file only the last kMaxText bytes
// count. Owned by one thread.
//
// Anybody in the container may put a file there. It is believed only if it is a regular file of the
// user that the process runs as, and never through a symbolic link at its end.
class PerfMapFile {
 public:
  static constexpr std::uint64_t kMaxText = 16 << 20;
  static constexpr std::chrono::seconds kInterval{10};

  // `process_directory` is /proc/PID, in the daemon's PID namespace; it is held open, so that no
  // later process with the same number is taken for this one. Nothing if the process has exited, or
  // did not start at `start_ns` of CLOCK_BOOTTIME.
  static Result<std::optional<PerfMapFile>> open(
      const std::filesystem::path& process_directory,
      std::optional<std::uint64_t> start_ns = std::nullopt);

  // The name as in the file; lives until the next call. Names read while the process lived are kept
  // when it has exited.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t address, MonotonicTime now);

  // Reads the file if it has changed, without waiting for kInterval: for processes about to exit.
  // The error says why there are no names.
  Status refresh(MonotonicTime now);

  [[nodiscard]] std::size_t bytes() const { return sizeof(*this) + map_.bytes(); }

 private:
  struct Version {
    std::int64_t modified_ns = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    bool operator==(const Version&) const = default;
  };

  explicit PerfMapFile(UniqueFd process) : process_(std::move(process)) {}

  UniqueFd process_;
  PerfMap map_;
  Version version_;
  std::optional<MonotonicTime> checked_at_;
};

}  // namespace offcpud
