// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mappings/fair_share.h"
#include "mappings/inode_id.h"

namespace offcpud {

// A line of /proc/PID/maps.
struct MapsLine {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  bool executable = false;
  InodeId inode;
  std::string path;  // decoded: the file writes a line feed as \012
};

// `line` has no line feed at its end. Nothing: it is no such line.
std::optional<MapsLine> parse_maps_line(std::string_view line);

// Reads /proc/PID. An interface, so that tests can replace it.
class ProcessReader {
 public:
  virtual ~ProcessReader() = default;

  // The processes that exist.
  virtual Result<std::vector<std::uint32_t>> processes() = 0;

  struct Process {
    std::vector<MapsLine> maps;          // executable ones, up to the limits below
    std::vector<std::uint32_t> threads;  // that have not ended
    std::uint64_t left_out = 0;          // number of `maps` beyond the limits below
  };
  // A process may have 65,530 mappings, each with a path of 4 KiB. kMostLines is the number kept
  // per process (ProcessMappings::Limits); kMostText allows it paths of 256 bytes on average.
  static constexpr std::size_t kMostLines = 8192;
  static constexpr std::size_t kMostText = std::size_t{2} << 20;

  // Nothing: the process is gone, a zombie, or a kernel thread. Leaves out [vsyscall], which is the
  // same everywhere and belongs to no process. An error of kind Permission means that
  // PTRACE_MODE_READ was denied.
  virtual Result<std::optional<Process>> read(std::uint32_t tgid) = 0;

  // See real_uid_of().
  virtual std::optional<std::uint32_t> user_of(std::uint32_t tgid) = 0;
};

// Needs CAP_SYS_PTRACE for other users' processes; newer kernels (seen on 6.18) accept CAP_PERFMON.
class ProcProcessReader final : public ProcessReader {
 public:
  Result<std::vector<std::uint32_t>> processes() override;
  Result<std::optional<Process>> read(std::uint32_t tgid) override;
  std::optional<std::uint32_t> user_of(std::uint32_t tgid) override { return real_uid_of(tgid); }
};

}  // namespace offcpud
