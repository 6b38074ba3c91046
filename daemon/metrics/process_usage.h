// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/result.h"

namespace offcpud {

// Resources that the daemon itself uses, with the definitions of other exporters' process_*
// metrics.
struct ProcessUsage {
  double cpu_seconds = 0;
  double start_time_seconds = 0;  // Unix time
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_bytes = 0;
  std::optional<std::uint64_t> open_fds;  // nullopt: not readable, for example if not dumpable
  std::uint64_t max_fds = 0;
};

// Reads `proc`/self/{stat,fd} and `proc`/stat. Any thread.
Result<ProcessUsage> read_process_usage(const std::filesystem::path& proc);

}  // namespace offcpud
