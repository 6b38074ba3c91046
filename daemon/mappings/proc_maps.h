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
  std::string path;  // with line feeds as they are, which the file writes as \012
};

// Nothing if it is no such line; it ends without a line feed.
std::optional<MapsLine> parse_maps_line(std::string_view line);

// What /proc tells of processes. Seam for tests.
class ProcessReader {
 public:
  virtual ~ProcessReader() = default;

  // The processes that exist.
  virtual Result<std::vector<std::uint32_t>> processes() = 0;

  struct Process {
    std::vector<MapsLine> maps;          // executable ones, as many as are read
    std::vector<std::uint32_t> threads;  // those that have not ended
    std::uint64_t left_out = 0;          // of `maps`, beyond the limits below
  };
  // A process may have 65,530 mappings, each with a path of 4 KiB. The first is as many as are kept
  // of one (ProcessMappings::Limits), with paths of 256 bytes on average.
  static constexpr std::size_t kMostLines = 8192;
  static constexpr std::size_t kMostText = std::size_t{2} << 20;

  // Nothing if the process is gone or a zombie, or if it is a kernel thread. [vsyscall], which is
  // the same everywhere and belongs to none, is left out. An error of kind Permission says that
  // PTRACE_MODE_READ was denied.
  virtual Result<std::optional<Process>> read(std::uint32_t tgid) = 0;

  // See real_uid_of().
  virtual std::optional<std::uint32_t> user_of(std::uint32_t tgid) = 0;
};

// Needs CAP_SYS_PTRACE for processes of other users; newer kernels (6.18 was tried) are content
// with CAP_PERFMON.
class ProcProcessReader final : public ProcessReader {
 public:
  Result<std::vector<std::uint32_t>> processes() override;
  Result<std::optional<Process>> read(std::uint32_t tgid) override;
  std::optional<std::uint32_t> user_of(std::uint32_t tgid) override { return real_uid_of(tgid); }
};

}  // namespace offcpud
