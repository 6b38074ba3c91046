// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/value_at.h"
#include "reader/process_memory.h"

namespace offcpud {

// Parts of another process's memory, `size` bytes at each address, read with one call. A part that
// cannot be read whole is missing.
class MemoryParts {
 public:
  MemoryParts(ProcessMemory& memory, std::uint32_t tgid, std::span<const std::uint64_t> addresses,
              std::size_t size);

  [[nodiscard]] bool has(std::size_t part) const { return pieces_[part].got == size_; }
  // The value at an offset of a part; 0 if the part is missing or ends before it.
  template <class T>
  [[nodiscard]] T at(std::size_t part, std::size_t offset) const {
    static_assert(std::is_integral_v<T>);
    if (!has(part)) return 0;
    return value_at<T>(std::span(bytes_).subspan(part * size_, size_), offset);
  }
  // Empty if the part is missing.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t part) const {
    return has(part) ? std::span(bytes_).subspan(part * size_, size_)
                     : std::span<const std::byte>();
  }
  // `length` bytes of a part; empty if the part is missing or ends before them.
  [[nodiscard]] std::string_view text(std::size_t part, std::size_t offset,
                                      std::size_t length) const;
  // The bytes of a part up to its first zero byte; empty if there is none.
  [[nodiscard]] std::string_view text(std::size_t part) const;

 private:
  std::size_t size_;
  std::vector<std::byte> bytes_;
  std::vector<MemoryPiece> pieces_;
};

// Reads single values and ranges of a process's memory. Needs what ProcessMemory needs.
class MemoryWords {
 public:
  MemoryWords(ProcessMemory& memory, std::uint32_t tgid) : memory_(memory), tgid_(tgid) {}

  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t address) const {
    const MemoryParts part(memory_, tgid_, {&address, 1}, sizeof(T));
    if (!part.has(0)) return std::nullopt;
    return part.at<T>(0, 0);
  }
  [[nodiscard]] MemoryParts parts(std::span<const std::uint64_t> addresses,
                                  std::size_t size) const {
    return {memory_, tgid_, addresses, size};
  }
  // The range, or as much from its beginning as can be read.
  [[nodiscard]] std::vector<std::byte> range(std::uint64_t address, std::size_t size) const;

 private:
  ProcessMemory& memory_;
  std::uint32_t tgid_;
};

}  // namespace offcpud
