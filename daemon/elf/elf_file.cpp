// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace offcpud {
namespace {

// Files made by linkers have a few dozen of each.
constexpr std::uint64_t kMaxSections = 16384;
constexpr std::uint64_t kMaxSegments = 1024;
constexpr std::uint64_t kMaxSectionNames = 1 << 20;
constexpr std::size_t kMaxSectionName = 64;
constexpr std::uint64_t kMaxNotes = 64 << 10;
constexpr int kMaxNoteTables = 32;  // that are looked at for a build-id
constexpr std::uint64_t kMaxBuildId = 64;

struct Elf64 {
  using Header = Elf64_Ehdr;
  using Section = Elf64_Shdr;
  using Segment = Elf64_Phdr;
  using Symbol = Elf64_Sym;
};

struct Elf32 {
  using Header = Elf32_Ehdr;
  using Section = Elf32_Shdr;
  using Segment = Elf32_Phdr;
  using Symbol = Elf32_Sym;
};

template <class T>
T load(std::string_view bytes, std::size_t offset = 0) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

template <class Symbol>
ElfSymbol plain_symbol(const Symbol& symbol) {
  ElfSymbol plain;
  plain.address = symbol.st_value;
  plain.size = symbol.st_size;
  plain.name = symbol.st_name;
  plain.type = symbol.st_info & 0xfU;
  plain.binding = static_cast<std::uint8_t>(symbol.st_info >> 4U);
  plain.defined = symbol.st_shndx != SHN_UNDEF;
  return plain;
}

std::string name_at(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  names.remove_prefix(offset);
  names = names.substr(0, kMaxSectionName);
  return std::string(names.substr(0, names.find('\0')));
}

}  // namespace

Result<ElfFile> ElfFile::read(const ByteSource& source) {
  TRY(const std::string ident, source.read(0, EI_NIDENT, EI_NIDENT));
  if (ident.compare(0, SELFMAG, ELFMAG) != 0) return Error("read object: not an ELF file");
  constexpr unsigned char kByteOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (static_cast<unsigned char>(ident[EI_DATA]) != kByteOrder) {
    return Error("read object: made for another byte order", ErrorKind::Unsupported);
  }
  ElfFile file(source);
  file.wide_ = ident[EI_CLASS] == ELFCLASS64;
  if (!file.wide_ && ident[EI_CLASS] != ELFCLASS32) return Error("read object: unknown ELF class");
  TRY_VOID(file.wide_ ? file.read_headers<Elf64>() : file.read_headers<Elf32>());
  file.read_build_id();
  return file;
}

template <class Format>
Status ElfFile::read_headers() {
  using Header = typename Format::Header;
  using Segment = typename Format::Segment;
  TRY(const std::string bytes, source_->read(0, sizeof(Header), sizeof(Header)));
  const auto header = load<Header>(bytes);
  entry_ = header.e_entry;

  if (header.e_phnum > 0 && header.e_phentsize == sizeof(Segment)) {
    const std::uint64_t count = std::min<std::uint64_t>(header.e_phnum, kMaxSegments);
    TRY(const std::string table,
        source_->read(header.e_phoff, count * sizeof(Segment), kMaxSegments * sizeof(Segment)));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto raw = load<Segment>(table, i * sizeof(Segment));
      segments_.push_back(
          {raw.p_type, raw.p_flags, raw.p_offset, raw.p_vaddr, raw.p_filesz, raw.p_memsz});
    }
  }
  // Without section headers (sstrip, some packers) the segments still yield names from FDEs, so an
  // unreadable table is not an error.
  if (header.e_shoff != 0 && header.e_shentsize == sizeof(typename Format::Section)) {
    if (!read_sections<Format>(header.e_shoff, header.e_shnum, header.e_shstrndx)) {
      sections_.clear();
    }
  }
  return {};
}

template <class Format>
Status ElfFile::read_sections(std::uint64_t offset, std::uint64_t count, std::uint32_t names) {
  using Section = typename Format::Section;
  if (count == 0 ||
      names == SHN_XINDEX) {  // what does not fit into 16 bits is in the first section
    TRY(const std::string bytes, source_->read(offset, sizeof(Section), sizeof(Section)));
    const auto first = load<Section>(bytes);
    if (count == 0) count = first.sh_size;
    if (names == SHN_XINDEX) names = first.sh_link;
  }
  if (count > kMaxSections) return Error("read object: too many sections");
  TRY(const std::string table,
      source_->read(offset, count * sizeof(Section), kMaxSections * sizeof(Section)));

  std::string strings;
  if (names < count) {
    const auto raw = load<Section>(table, names * sizeof(Section));
    if (raw.sh_type == SHT_STRTAB) {
      if (auto read = source_->read(raw.sh_offset, raw.sh_size, kMaxSectionNames)) {
        strings = *std::move(read);
      }
    }
  }
  sections_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto raw = load<Section>(table, i * sizeof(Section));
    sections_.push_back({name_at(strings, raw.sh_name), raw.sh_type, raw.sh_link, raw.sh_flags,
                         raw.sh_addr, raw.sh_offset, raw.sh_size});
  }
  return {};
}

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& s) { return s.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSection* ElfFile::section(std::uint32_t type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& s) { return s.type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSegment* ElfFile::segment(std::uint32_t type) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [&](const ElfSegment& s) { return s.type == type; });
  return found == segments_.end() ? nullptr : &*found;
}

// Sections first: in a separate debug file they are what still has content.
void ElfFile::read_build_id() {
  int left = kMaxNoteTables;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE || !build_id_.empty()) continue;
    if (left-- == 0) return;
    const auto notes = source_->read(section.offset, section.size, kMaxNotes);
    if (notes) build_id_ = find_build_id(*notes, 4);
  }
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_NOTE || !build_id_.empty()) continue;
    if (left-- == 0) return;
    const auto notes = source_->read(segment.offset, segment.file_size, kMaxNotes);
    if (!notes) continue;
    build_id_ = find_build_id(*notes, 4);
    if (build_id_.empty()) build_id_ = find_build_id(*notes, 8);
  }
}

std::size_t ElfFile::symbol_size() const {
  return wide_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

ElfSymbol ElfFile::symbol(std::string_view bytes) const {
  return wide_ ? plain_symbol(load<Elf64_Sym>(bytes)) : plain_symbol(load<Elf32_Sym>(bytes));
}

std::string find_build_id(std::string_view notes, std::size_t alignment) {
  const auto padded = [&](std::uint64_t size) {
    return (size + alignment - 1) / alignment * alignment;
  };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    const auto header = load<Elf64_Nhdr>(notes);
    notes.remove_prefix(sizeof(header));
    const std::uint64_t name_size = padded(header.n_namesz);
    if (name_size > notes.size()) break;
    const std::string_view name = notes.substr(0, header.n_namesz);
    notes.remove_prefix(name_size);
    if (header.n_descsz > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4)) {
      return header.n_descsz <= kMaxBuildId ? std::string(notes.substr(0, header.n_descsz))
                                            : std::string();
    }
    notes.remove_prefix(std::min<std::uint64_t>(padded(header.n_descsz), notes.size()));
  }
  return {};
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 0xfU];
  }
  return text;
}

}  // namespace offcpud
