// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace offcpud {

// The GNU build-id of an ELF file: 1 to 64 bytes, the rest zero. Linkers make 20 (SHA-1), 16 (MD5),
// 8 (xxhash) or 32 (SHA-256) bytes. Size 0: the file has none, or it is unknown.
struct BuildId {
  static constexpr std::size_t kMaxSize = 64;
  static constexpr std::size_t kKernelMaxSize = 20;  // the kernel does not report longer ones

  std::array<std::uint8_t, kMaxSize> bytes{};
  std::uint8_t size = 0;

  // Has size 0 if `bytes` has more than kMaxSize.
  static BuildId from(std::span<const std::uint8_t> bytes);

  [[nodiscard]] bool known() const { return size != 0; }

  // In lower-case hexadecimal, as in /usr/lib/debug/.build-id.
  [[nodiscard]] std::string hex() const;

  bool operator==(const BuildId&) const = default;
};

// The first build-id of 1 to `max_size` bytes in `notes`, the content of a PT_NOTE segment or an
// SHT_NOTE section: the descriptor of an NT_GNU_BUILD_ID note whose owner is "GNU". The parts of a
// note are padded to 4 bytes, as the kernel reads them. The bytes are untrusted.
BuildId find_build_id(std::span<const std::uint8_t> notes,
                      std::size_t max_size = BuildId::kMaxSize);

// The build-id that the kernel reports for mappings of the file behind `fd`. The file may be ELF of
// 32 or 64 bits in this machine's byte order; other files have none. Reads the program headers and
// at most 64 KiB of each note segment. Ignores the file position and does not change it.
BuildId read_build_id(int fd);

}  // namespace offcpud
