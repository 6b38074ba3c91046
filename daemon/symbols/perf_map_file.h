// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "symbols/perf_map.h"
#include "symbols/perf_map_finder.h"

namespace offcpud {

// The file /tmp/perf-PID.map of one process, in its own mount and PID namespace. The JVM (jcmd PID
// Compiler.perfmap), Node (--perf-basic-prof), Python 3.12 (-X perf) and others write it. It is
// read again when it has changed, at most every kInterval; of a large file only the last kMaxText
// bytes count. Owned by one thread.
//
// Anybody in the container may put a file there. It is used only if it is a regular file of the
// user as whom the process runs; a symbolic link in its place is not followed.
class PerfMapFile {
 public:
  static constexpr std::uint64_t kMaxText = 16 << 20;
  static constexpr std::chrono::seconds kInterval{10};

  // The finder must outlive the object.
  PerfMapFile(PerfMapFinder& finder, const PerfMapProcess& process)
      : finder_(&finder), process_(process) {}

  // The name as in the file, valid until the next call. Names that were read while the process
  // lived are kept after its exit.
  [[nodiscard]] std::optional<std::string_view> find(std::uint64_t address, MonotonicTime now);

  // Reads the file if it has changed, regardless of kInterval: for processes about to exit. The
  // error says why there are no names.
  Status refresh(MonotonicTime now);

  // Whether the file had more bytes or lines than are used.
  [[nodiscard]] bool is_truncated() const { return is_truncated_; }

  [[nodiscard]] std::size_t bytes() const { return sizeof(*this) + map_.bytes(); }

 private:
  PerfMapFinder* finder_;
  PerfMapProcess process_;
  PerfMap map_;
  PerfMapVersion version_;
  std::optional<MonotonicTime> checked_at_;
  bool is_truncated_ = false;
};

}  // namespace offcpud
