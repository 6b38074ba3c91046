// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace offcpud {

// The GNU build-id of an ELF file, as the kernel reports it: 1 to 20 bytes, the rest zero. Linkers
// make 20 (SHA-1), 16 (MD5) or 8 (xxhash) of them. Size 0: the file has none, or nobody knows it.
struct BuildId {
  static constexpr std::size_t kMaxSize = 20;

  std::array<std::uint8_t, kMaxSize> bytes{};
  std::uint8_t size = 0;

  // Nothing for lengths that the kernel would not accept either.
  static BuildId from(std::span<const std::byte> bytes) {
    BuildId id;
    if (bytes.empty() || bytes.size() > kMaxSize) return id;
    std::transform(bytes.begin(), bytes.end(), id.bytes.begin(),
                   [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
    id.size = static_cast<std::uint8_t>(bytes.size());
    return id;
  }

  [[nodiscard]] bool known() const { return size != 0; }

  // In lower-case hexadecimal, as in /usr/lib/debug/.build-id.
  [[nodiscard]] std::string hex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
      text += kDigits[bytes[i] >> 4];
      text += kDigits[bytes[i] & 15];
    }
    return text;
  }

  bool operator==(const BuildId&) const = default;
};

// An inode as /proc/PID/maps names it: numbers of the file system's device, not those that stat()
// reports, which differ on btrfs and overlayfs. Valid while somebody maps the file.
struct InodeId {
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint64_t inode = 0;  // 0: no file

  [[nodiscard]] bool known() const { return inode != 0; }
  bool operator==(const InodeId&) const = default;
};

}  // namespace offcpud
