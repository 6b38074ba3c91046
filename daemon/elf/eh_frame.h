// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/byte_reader.h"

namespace offcpud {

// The section .eh_frame, which tells how to unwind a stack without frame pointers. Format: Linux
// Standard Base Core 5.0, section 10.6 ("Exception Frames"); the instructions in it: DWARF 5,
// section 6.4.2; their use on x86-64: System V ABI, AMD64 supplement, section 4.2.4. Any user may
// have written the bytes that are read here.
struct EhFrameSection {
  Bytes bytes;
  std::uint64_t address = 0;  // of its first byte, as linked
  // Whether `bytes` ends where the section does. If not, it ends at the first record of length 0.
  bool exact_size = true;
  std::size_t address_size = 8;  // of the file's class: 4 or 8
};

// What several functions have in common.
struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 0;
  std::uint64_t return_register = 0;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  Bytes instructions;
};

// One function: `begin` <= its addresses < `end`.
struct Fde {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t offset = 0;      // in the section
  std::uint32_t cie_offset = 0;  // in the section
  Bytes instructions;
};

// Takes a pointer in one of the encodings of LSB 10.5.1: absolute or relative to itself. nullopt
// for the others, which x86 does not use, and for DW_EH_PE_omit. `address` is that of the first
// byte that `reader` was made with.
std::optional<std::uint64_t> take_encoded(ByteReader& reader, std::uint8_t encoding,
                                          std::uint64_t address, std::size_t address_size = 8);

// nullopt: no CIE there, or one in a version or with an augmentation that is not known.
std::optional<Cie> read_cie(const EhFrameSection& section, std::uint32_t offset);

// The FDEs of a section, in its order or by their offsets. Broken ones are counted and skipped.
class FdeWalk {
 public:
  explicit FdeWalk(const EhFrameSection& section) : section_(section), reader_(section.bytes) {}

  std::optional<Fde> next();  // never empty; nullopt: the end
  // The FDE at `offset`, which next() or .eh_frame_hdr has told; nullopt: there is none. It is
  // empty, with begin == end, if the linker dropped its function.
  [[nodiscard]] std::optional<Fde> at(std::uint32_t offset);
  [[nodiscard]] std::uint32_t broken() const { return broken_; }

 private:
  struct KnownCie {
    std::uint32_t offset = UINT32_MAX;
    std::optional<Cie> cie;
  };

  std::optional<Fde> read_fde(std::size_t id_offset, std::uint32_t distance, std::size_t end);
  const Cie* cie_at(std::uint32_t offset);

  EhFrameSection section_;
  ByteReader reader_;
  std::uint32_t broken_ = 0;
  // The last CIEs, each in the place that its offset gives it: thousands of FDEs share a few CIEs,
  // but a hostile section can have millions.
  std::array<KnownCie, 64> cies_;
};

}  // namespace offcpud
