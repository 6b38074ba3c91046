// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "elf/build_id.h"
#include "elf/byte_source.h"

namespace offcpud {

// The fields of section and program headers that we use, the same for 32 and 64 bits.
struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint32_t link = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct ElfSegment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
};

// One entry of a symbol table.
struct ElfSymbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;  // 0: unknown
  std::uint32_t name = 0;  // offset in the string table
  std::uint8_t type = 0;   // STT_*
  std::uint8_t binding = 0;
  bool defined = false;
};

// The headers of an ELF file of 32 or 64 bits in this machine's byte order. They are untrusted:
// every offset is checked when it is used. The source must outlive the object. Immutable.
class ElfFile {
 public:
  // `All` also reads the section headers, at the end of the file: one more disk access.
  enum class Parts { Segments, All };

  // Leaves out section headers that are missing, damaged or beyond the limits, without an error:
  // segments alone still yield build-ids and unwind tables.
  static Result<ElfFile> read(const ByteSource& source, Parts parts = Parts::All);

  [[nodiscard]] const ByteSource& source() const { return *source_; }
  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
  // The first section with this name that has bytes in the file, or the first one of this type;
  // null: none.
  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  [[nodiscard]] const ElfSection* section(std::uint32_t type) const;
  [[nodiscard]] const ElfSegment* segment(std::uint32_t type) const;

  [[nodiscard]] std::uint16_t type() const { return type_; }        // ET_*
  [[nodiscard]] std::uint16_t machine() const { return machine_; }  // EM_*
  [[nodiscard]] std::uint64_t entry() const { return entry_; }      // of the first instruction
  [[nodiscard]] std::size_t address_size() const { return wide_ ? 8 : 4; }
  // Searches the notes, first those in sections: the segments of a separate debug file are empty.
  [[nodiscard]] BuildId build_id(std::size_t max_size = BuildId::kMaxSize) const;

  [[nodiscard]] std::size_t symbol_size() const;
  // The symbol at the start of `bytes`, which must have at least symbol_size().
  [[nodiscard]] ElfSymbol symbol(Bytes bytes) const;

 private:
  explicit ElfFile(const ByteSource& source) : source_(&source) {}
  template <class Format>
  Status read_headers(Bytes bytes, Parts parts);
  template <class Format>
  Status read_sections(std::uint64_t offset, std::uint64_t count, std::uint32_t names);

  const ByteSource* source_;
  bool wide_ = true;
  std::uint16_t type_ = 0;
  std::uint16_t machine_ = 0;
  std::uint64_t entry_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
};

}  // namespace offcpud
