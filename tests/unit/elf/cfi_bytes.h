// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "elf/elf_object.h"

namespace offcpud {

// Writes sections .eh_frame for tests: CIEs as gcc writes them, and FDEs with absolute 8-byte
// addresses.
class CfiBytes {
 public:
  using Instructions = std::vector<std::uint8_t>;

  // CFA = rsp + 8, the return address below it.
  static Instructions usual() { return {0x0c, 7, 8, 0x90, 1}; }

  std::uint32_t cie(const Instructions& instructions = usual(), const char* augmentation = "zR",
                    std::uint8_t version = 1) {
    const auto offset = begin();
    put<std::uint32_t>(0);
    bytes_.push_back(version);
    for (const char* c = augmentation; *c; ++c) bytes_.push_back(static_cast<std::uint8_t>(*c));
    bytes_.insert(bytes_.end(), {0, 1, 0x78, 16});  // factors 1 and -8, return address in 16
    if (*augmentation == 'z') bytes_.insert(bytes_.end(), {1, 0x00});  // absolute pointers
    return finish(offset, instructions);
  }

  std::uint32_t fde(std::uint32_t cie, std::uint64_t address, std::uint64_t size,
                    const Instructions& instructions = {}) {
    const auto offset = begin();
    put<std::uint32_t>(static_cast<std::uint32_t>(bytes_.size()) - cie);
    put(address);
    put(size);
    bytes_.push_back(0);  // no augmentation data
    return finish(offset, instructions);
  }

  template <class T>
  void put(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

  // An object with text from 0x1000 up to 16 MiB.
  [[nodiscard]] ElfObject object() const {
    return {.segments = {{.file_offset = 0x1000, .address = 0x1000, .size = 0xfff000}},
            .eh_frame = bytes_,
            .eh_frame_address = 0x10000000};
  }

 private:
  std::uint32_t begin() {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    put<std::uint32_t>(0);  // the length, later
    return offset;
  }
  std::uint32_t finish(std::uint32_t offset, const Instructions& instructions) {
    bytes_.insert(bytes_.end(), instructions.begin(), instructions.end());
    const auto length = static_cast<std::uint32_t>(bytes_.size()) - offset - 4;
    for (std::size_t i = 0; i < 4; ++i) {
      bytes_[offset + i] = static_cast<std::uint8_t>(length >> (8 * i));
    }
    return offset;
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace offcpud
