// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace offcpud {

// Some bytes in another process's memory.
struct MemoryPiece {
  std::uint32_t tgid = 0;
  std::uint32_t tid = 0;
  std::uint64_t address = 0;
  std::span<std::byte> to;
  std::size_t got = 0;  // number of leading bytes that were read
};

// Reads the memory of processes. An interface, because reading may wait for ever for a page that a
// server or a process must supply; threads that must not wait let a reader process do it.
class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;
  virtual void read(std::span<MemoryPiece> pieces) = 0;
};

// Returns how many leading bytes could be read. Needs CAP_SYS_PTRACE for other users' processes.
std::size_t read_process_memory(std::uint32_t tid, std::uint64_t address, std::span<std::byte> to);

// Reads in this process, and may wait.
class DirectProcessMemory final : public ProcessMemory {
 public:
  void read(std::span<MemoryPiece> pieces) override;
};

}  // namespace offcpud
