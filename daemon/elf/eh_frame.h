// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/byte_reader.h"

namespace offcpud {

// The section .eh_frame, which says how to unwind a stack without frame pointers. Format: Linux
// Standard Base Core 5.0, section 10.6 ("Exception Frames"). Its instructions: DWARF 5, section
// 6.4.2. Their use on x86-64: System V ABI, AMD64 supplement, section 4.2.4. The bytes are
// untrusted: any user may have written them.
struct EhFrameSection {
  Bytes bytes;
  std::uint64_t address = 0;  // of its first byte, as linked
  // True: `bytes` ends where the section does. False: it ends at the first record of length 0.
  bool exact_size = true;
  std::size_t address_size = 8;  // 4 or 8, by the class of the file
};

// The bits of an encoding of pointers (DW_EH_PE_*, LSB 10.5.1) that are the format. The others say
// what it is relative to.
inline constexpr std::uint8_t kPointerFormat = 0x0f;

// A common information entry: what several functions share.
struct Cie {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 0;
  std::uint64_t return_register = 0;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool signal_frame = false;
  Bytes instructions;
};

// A frame description entry: a function with `begin` <= its addresses < `end`.
struct Fde {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t offset = 0;      // in the section
  std::uint32_t cie_offset = 0;  // in the section
  Bytes instructions;
};

// Reads a pointer in an encoding of LSB 10.5.1, absolute or relative to itself. nullopt:
// DW_EH_PE_omit, or an encoding that x86 does not use. `address`: of the first byte of `reader`.
std::optional<std::uint64_t> take_encoded(ByteReader& reader, std::uint8_t encoding,
                                          std::uint64_t address, std::size_t address_size = 8);

// nullopt: there is no CIE at `offset`, or its version or augmentation is unknown.
std::optional<Cie> read_cie(const EhFrameSection& section, std::uint32_t offset);

// Reads the FDEs of a section, in order or by offset. Counts and skips broken ones.
class FdeWalk {
 public:
  explicit FdeWalk(const EhFrameSection& section) : section_(section), reader_(section.bytes) {}

  std::optional<Fde> next();  // never empty; nullopt: the end
  // The FDE at `offset`, a value from next() or .eh_frame_hdr; nullopt: there is none. If the
  // linker dropped its function, it is empty: begin == end.
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
  // A cache of the CIEs used last, indexed by their offsets. Thousands of FDEs share a few CIEs,
  // but a hostile section can have millions of CIEs.
  std::array<KnownCie, 64> cies_;
};

}  // namespace offcpud
