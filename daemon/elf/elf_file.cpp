// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace offcpud {
namespace {

// Limits; linkers make a few dozen of each.
constexpr std::uint64_t kMaxSections = 16384;
constexpr std::uint64_t kMaxSegments = 1024;
constexpr std::uint64_t kMaxSectionNames = 1 << 20;
constexpr std::size_t kMaxSectionName = 64;
constexpr std::uint64_t kMaxNotes = 64 << 10;
constexpr int kMaxNoteTables = 32;  // searched for a build-id

struct Elf64 {
  using Header = Elf64_Ehdr;
  using Section = Elf64_Shdr;
  using Segment = Elf64_Phdr;
};

struct Elf32 {
  using Header = Elf32_Ehdr;
  using Section = Elf32_Shdr;
  using Segment = Elf32_Phdr;
};

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

std::string name_at(Bytes names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  names = names.subspan(offset);
  names = names.first(std::min(names.size(), kMaxSectionName));
  return {names.begin(), std::ranges::find(names, 0)};
}

template <class T, class Predicate>
const T* first(const std::vector<T>& headers, Predicate is_wanted) {
  const auto found = std::ranges::find_if(headers, is_wanted);
  return found == headers.end() ? nullptr : &*found;
}

}  // namespace

Result<ElfFile> ElfFile::read(const ByteSource& source, Parts parts) {
  TRY(const auto header, source.read_up_to(0, sizeof(Elf64_Ehdr)));
  ByteReader reader(header);
  const Bytes ident = reader.take_bytes(EI_NIDENT);
  if (!reader.ok() || std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0) {
    return Error("read object: not an ELF file", ErrorKind::Unsupported);
  }
  constexpr unsigned char kByteOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (ident[EI_DATA] != kByteOrder) {
    return Error("read object: made for another byte order", ErrorKind::Unsupported);
  }
  ElfFile file(source);
  file.wide_ = ident[EI_CLASS] == ELFCLASS64;
  if (!file.wide_ && ident[EI_CLASS] != ELFCLASS32) return Error("read object: unknown ELF class");
  TRY_VOID(file.wide_ ? file.read_headers<Elf64>(header, parts)
                      : file.read_headers<Elf32>(header, parts));
  return file;
}

template <class Format>
Status ElfFile::read_headers(Bytes bytes, Parts parts) {
  using Header = typename Format::Header;
  using Segment = typename Format::Segment;
  if (bytes.size() < sizeof(Header)) return Error("read object: its header is cut short");
  const auto header = ByteReader(bytes).take<Header>();
  type_ = header.e_type;
  machine_ = header.e_machine;
  entry_ = header.e_entry;

  if (header.e_phnum > 0 && header.e_phentsize == sizeof(Segment)) {
    const std::uint64_t count = std::min<std::uint64_t>(header.e_phnum, kMaxSegments);
    TRY(const auto table,
        source_->read(header.e_phoff, count * sizeof(Segment), kMaxSegments * sizeof(Segment)));
    for (ByteReader reader(table); !reader.at_end();) {
      const auto raw = reader.take<Segment>();
      segments_.push_back(
          {raw.p_type, raw.p_flags, raw.p_offset, raw.p_vaddr, raw.p_filesz, raw.p_memsz});
    }
  }
  // sstrip and some packers remove the section headers.
  if (parts == Parts::All && header.e_shoff != 0 &&
      header.e_shentsize == sizeof(typename Format::Section) &&
      !read_sections<Format>(header.e_shoff, header.e_shnum, header.e_shstrndx)) {
    sections_.clear();
  }
  return {};
}

template <class Format>
Status ElfFile::read_sections(std::uint64_t offset, std::uint64_t count, std::uint32_t names) {
  using Section = typename Format::Section;
  if (count == 0 || names == SHN_XINDEX) {  // more than 16 bits: in the first section
    TRY(const auto bytes, source_->read(offset, sizeof(Section), sizeof(Section)));
    const auto first = ByteReader(bytes).take<Section>();
    if (count == 0) count = first.sh_size;
    if (names == SHN_XINDEX) names = first.sh_link;
  }
  if (count > kMaxSections) return Error("read object: too many sections");
  TRY(const auto table,
      source_->read(offset, count * sizeof(Section), kMaxSections * sizeof(Section)));

  std::vector<std::uint8_t> strings;
  if (names < count) {
    const auto raw = ByteReader(Bytes(table).subspan(names * sizeof(Section))).take<Section>();
    if (auto read = source_->read(raw.sh_offset, raw.sh_size, kMaxSectionNames)) {
      strings = *std::move(read);
    }
  }
  sections_.reserve(count);
  for (ByteReader reader(table); !reader.at_end();) {
    const auto raw = reader.take<Section>();
    sections_.push_back({name_at(strings, raw.sh_name), raw.sh_type, raw.sh_link, raw.sh_flags,
                         raw.sh_addr, raw.sh_offset, raw.sh_size});
  }
  return {};
}

const ElfSection* ElfFile::section(std::string_view name) const {
  return first(sections_, [&](const ElfSection& section) {
    return section.name == name && section.type != SHT_NOBITS;
  });
}

const ElfSection* ElfFile::section(std::uint32_t type) const {
  return first(sections_, [&](const ElfSection& section) { return section.type == type; });
}

const ElfSegment* ElfFile::segment(std::uint32_t type) const {
  return first(segments_, [&](const ElfSegment& segment) { return segment.type == type; });
}

BuildId ElfFile::build_id(std::size_t max_size) const {
  int left = kMaxNoteTables;
  const auto build_id_at = [&](std::uint64_t offset, std::uint64_t size) {
    if (left-- <= 0) return BuildId();
    const auto notes = source_->read_up_to(offset, std::min(size, kMaxNotes));
    return notes ? find_build_id(*notes, max_size) : BuildId();
  };
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    if (const BuildId id = build_id_at(section.offset, section.size); id.known()) return id;
  }
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_NOTE) continue;
    if (const BuildId id = build_id_at(segment.offset, segment.file_size); id.known()) return id;
  }
  return {};
}

std::size_t ElfFile::symbol_size() const {
  return wide_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

ElfSymbol ElfFile::symbol(Bytes bytes) const {
  ByteReader reader(bytes);
  return wide_ ? plain_symbol(reader.take<Elf64_Sym>()) : plain_symbol(reader.take<Elf32_Sym>());
}

}  // namespace offcpud
