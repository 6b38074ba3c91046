// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace offcpud {

// Some bytes of another process.
struct MemoryPiece {
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint64_t address = 0;
  std::span<std::byte> to;
  std::size_t got = 0;  // from the front
};

// Reads what processes have in memory. Seam: a page may be one that somebody else has to bring, and
// never does, so those who must not wait have it read by somebody who may.
class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;
  virtual void read(std::span<MemoryPiece> pieces) = 0;
};

// Returns how many bytes from the front could be read. Needs CAP_SYS_PTRACE for processes of
// others.
std::size_t read_process_memory(std::uint32_t tid, std::uint64_t address, std::span<std::byte> to);

// Reads itself, and waits.
class DirectProcessMemory final : public ProcessMemory {
 public:
  void read(std::span<MemoryPiece> pieces) override;
};

}  // namespace offcpud
