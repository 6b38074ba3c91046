// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"

namespace offcpud {

// The section .eh_frame: what unwinds a stack without frame pointers. Format: Linux Standard Base
// Core 5.0, section 10.6 ("Exception Frames"); the instructions in it: DWARF 5, section 6.4.2; what
// x86-64 makes of it: System V ABI, AMD64 supplement, section 4.2.4. Everything here reads bytes
// that any user may have written.
struct EhFrameSection {
  Bytes bytes;
  std::uint64_t address = 0;  // of its first byte, as linked
  // Whether `bytes` ends where the section does. If not, it ends at the first record of length 0.
  bool exact_size = true;
};

// What the functions of a translation unit have in common.
struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 0;
  std::uint64_t return_register = 0;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  Bytes instructions;
};

// One function: `begin` <= its addresses < `end`, never empty.
struct Fde {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t offset = 0;      // in the section
  std::uint32_t cie_offset = 0;  // the same
  Bytes instructions;
};

// A pointer in one of the encodings of LSB 10.5.1: absolute or relative to itself; nullopt for the
// others, which x86-64 does not use, and for DW_EH_PE_omit. `address` is that of the section that
// `reader` began with.
std::optional<std::uint64_t> take_encoded(ByteReader& reader, std::uint8_t encoding,
                                          std::uint64_t address);

// nullopt: no CIE there, or one in a version or with an augmentation that is not known.
std::optional<Cie> read_cie(const EhFrameSection& section, std::uint32_t offset);

// The FDEs of a section in its order. What is broken is counted and passed over.
class FdeWalk {
 public:
  explicit FdeWalk(const EhFrameSection& section) : section_(section), reader_(section.bytes) {}

  std::optional<Fde> next();  // nullopt: the end
  // Once more the FDE at an `offset` that next() has returned.
  [[nodiscard]] std::optional<Fde> again(std::uint32_t offset);
  [[nodiscard]] std::uint32_t broken() const { return broken_; }

 private:
  std::optional<Fde> read_fde(std::size_t id_offset, std::uint32_t distance, std::size_t end);
  const Cie* cie_at(std::uint32_t offset);

  EhFrameSection section_;
  ByteReader reader_;
  std::uint32_t broken_ = 0;
  // The last one: an FDE mostly has the same as the one before.
  std::uint32_t cie_offset_ = UINT32_MAX;
  std::optional<Cie> cie_;
};

}  // namespace offcpud
