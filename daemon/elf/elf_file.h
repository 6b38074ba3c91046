// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "elf/byte_source.h"

namespace offcpud {

// The fields of section and program headers that symbols take, the same for 32 and 64 bits.
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
  std::uint64_t size = 0;  // 0: not known
  std::uint32_t name = 0;  // offset in the string table
  std::uint8_t type = 0;   // STT_*
  std::uint8_t binding = 0;
  bool defined = false;
};

// The headers of an ELF file in the byte order of this machine. What they say is not to be trusted:
// every offset is checked when it is used. The source must outlive it. Immutable.
class ElfFile {
 public:
  static Result<ElfFile> read(const ByteSource& source);

  [[nodiscard]] const ByteSource& source() const { return *source_; }
  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  [[nodiscard]] const ElfSection* section(std::uint32_t type) const;
  [[nodiscard]] const ElfSegment* segment(std::uint32_t type) const;

  // Of the program's first instruction.
  [[nodiscard]] std::uint64_t entry() const { return entry_; }
  // The bytes of NT_GNU_BUILD_ID, empty if there is none.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  [[nodiscard]] std::size_t address_size() const { return wide_ ? 8 : 4; }

  [[nodiscard]] std::size_t symbol_size() const;
  // The symbol at the start of `bytes`, which hold symbol_size() bytes at least.
  [[nodiscard]] ElfSymbol symbol(std::string_view bytes) const;

 private:
  explicit ElfFile(const ByteSource& source) : source_(&source) {}
  template <class Format>
  Status read_headers();
  template <class Format>
  Status read_sections(std::uint64_t offset, std::uint64_t count, std::uint32_t names);
  void read_build_id();

  const ByteSource* source_;
  bool wide_ = true;
  std::uint64_t entry_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::string build_id_;
};

// The content of the first NT_GNU_BUILD_ID among `notes`, each of whose parts is padded to
// `alignment` (4 or 8) bytes; empty if there is none.
std::string find_build_id(std::string_view notes, std::size_t alignment);

// "5f2a…", as in the names of debug files.
std::string to_hex(std::string_view bytes);

}  // namespace offcpud
