// SPDX-License-Identifier: Apache-2.0
#include "reader/process_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace offcpud {

// Reads page by page, so that pages before a missing one are read anyway.
std::size_t read_process_memory(std::uint32_t tid, std::uint64_t address, std::span<std::byte> to) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kMostPages = 64;
  std::array<iovec, kMostPages> pages{};
  std::size_t count = 0;
  std::size_t size = 0;
  while (count < kMostPages && size < to.size()) {
    const std::uint64_t begin = address + size;
    const std::size_t bytes = std::min<std::size_t>(kPage - begin % kPage, to.size() - size);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process
    pages.at(count++) = {reinterpret_cast<void*>(begin), bytes};
    size += bytes;
  }
  const iovec local{to.data(), size};
  const ssize_t got =
      ::process_vm_readv(static_cast<pid_t>(tid), &local, 1, pages.data(), count, 0);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

void DirectProcessMemory::read(std::span<MemoryPiece> pieces) {
  for (MemoryPiece& piece : pieces) {
    piece.got = read_process_memory(piece.tid, piece.address, piece.to);
  }
}

}  // namespace offcpud
