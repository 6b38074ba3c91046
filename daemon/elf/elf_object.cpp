// SPDX-License-Identifier: Apache-2.0
#include "elf/elf_object.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>

namespace offcpud {
namespace {

constexpr std::size_t kMaxProgramHeaders = 1024;
constexpr std::size_t kMaxSectionHeaders = 4096;
constexpr std::size_t kMaxSegments = 64;

// As many bytes as there are, up to `into`.
Result<std::size_t> read_at(int fd, std::uint64_t offset, std::span<std::uint8_t> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    if (offset > INT64_MAX - done) break;
    const ssize_t got =
        ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "read an ELF file");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

// A table of headers; empty if it is not whole.
template <class Header>
Result<std::vector<Header>> read_headers(int fd, std::uint64_t offset, std::size_t count) {
  std::vector<Header> headers(count);
  const std::size_t bytes = count * sizeof(Header);
  TRY(const std::size_t got,
      read_at(fd, offset, {reinterpret_cast<std::uint8_t*>(headers.data()), bytes}));
  if (got != bytes) headers.clear();
  return headers;
}

struct Headers {
  std::vector<Elf64_Phdr> programs;
  std::vector<Elf64_Shdr> sections;  // empty: stripped off, or unusable
  std::uint32_t names = 0;           // the section of their names
  std::uint64_t entry = 0;
};

Result<Headers> read_all_headers(int fd) {
  TRY(auto headers, read_headers<Elf64_Ehdr>(fd, 0, 1));
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0) {
    return Error("not an ELF file", ErrorKind::Unsupported);
  }
  const Elf64_Ehdr& elf = headers[0];
  if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
      elf.e_machine != EM_X86_64 || (elf.e_type != ET_EXEC && elf.e_type != ET_DYN)) {
    return Error("not a program or shared object for x86-64", ErrorKind::Unsupported);
  }
  if (elf.e_phentsize != sizeof(Elf64_Phdr) || elf.e_phnum > kMaxProgramHeaders) {
    return Error("an ELF file with unusable program headers", ErrorKind::Unsupported);
  }
  Headers all;
  all.entry = elf.e_entry;
  TRY(all.programs, read_headers<Elf64_Phdr>(fd, elf.e_phoff, elf.e_phnum));
  if (all.programs.empty()) {
    return Error("an ELF file without program headers", ErrorKind::Unsupported);
  }
  if (elf.e_shentsize == sizeof(Elf64_Shdr) && elf.e_shnum <= kMaxSectionHeaders) {
    TRY(all.sections, read_headers<Elf64_Shdr>(fd, elf.e_shoff, elf.e_shnum));
    all.names = elf.e_shstrndx;
  }
  return all;
}

bool contains(const Elf64_Phdr& segment, std::uint64_t address) {
  return segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
         address - segment.p_vaddr < segment.p_filesz;
}

// Where a section lies, in the file and in memory.
struct Place {
  std::uint64_t offset = 0, address = 0, size = 0;
  bool exact_size = false;
};

// From its beginning, which .eh_frame_hdr tells (LSB 10.6.2), to the end of its segment, or to that
// of the section which begins there.
Result<std::optional<Place>> find_by_header(int fd, const Headers& headers) {
  const auto header = std::ranges::find(headers.programs, std::uint32_t{PT_GNU_EH_FRAME},
                                        [](const Elf64_Phdr& p) { return p.p_type; });
  if (header == headers.programs.end()) return std::optional<Place>();
  std::array<std::uint8_t, 12> bytes{};
  TRY(const std::size_t got, read_at(fd, header->p_offset, bytes));
  ByteReader reader(Bytes(bytes).first(got));
  const auto version = reader.take<std::uint8_t>();
  const auto encoding = reader.take<std::uint8_t>();
  (void)reader.take<std::uint16_t>();
  const auto address = take_encoded(reader, encoding, header->p_vaddr);
  if (version != 1 || !address) return std::optional<Place>();

  const auto segment = std::ranges::find_if(
      headers.programs, [&](const Elf64_Phdr& p) { return contains(p, *address); });
  if (segment == headers.programs.end()) return std::optional<Place>();
  const std::uint64_t from_begin = *address - segment->p_vaddr;
  Place place{.offset = segment->p_offset + from_begin,
              .address = *address,
              .size = segment->p_filesz - from_begin};
  for (const Elf64_Shdr& section : headers.sections) {
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        section.sh_addr == *address && section.sh_size > 0 && section.sh_size <= place.size) {
      place.size = section.sh_size;
      place.exact_size = true;
    }
  }
  return std::optional(place);
}

Result<std::optional<Place>> find_by_name(int fd, const Headers& headers, std::string_view name) {
  if (headers.names >= headers.sections.size()) return std::optional<Place>();
  const std::uint64_t names = headers.sections[headers.names].sh_offset;
  std::array<std::uint8_t, 32> bytes{};
  for (const Elf64_Shdr& section : headers.sections) {
    if (section.sh_type == SHT_NOBITS || !(section.sh_flags & SHF_ALLOC)) continue;
    const auto there = std::span(bytes).first(name.size() + 1);
    TRY(const std::size_t got, read_at(fd, names + section.sh_name, there));
    if (got != there.size() || there.back() != 0 ||
        std::memcmp(there.data(), name.data(), name.size()) != 0) {
      continue;
    }
    return std::optional(Place{.offset = section.sh_offset,
                               .address = section.sh_addr,
                               .size = section.sh_size,
                               .exact_size = true});
  }
  return std::optional<Place>();
}

// No more than what is there, whatever a header says.
Result<std::vector<std::uint8_t>> read_bytes(int fd, const Place& place, std::uint64_t most) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return Error::from_errno(errno, "stat an ELF file");
  const auto there = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t behind = there - std::min(place.offset, there);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min({place.size, most, behind})));
  TRY(const std::size_t got, read_at(fd, place.offset, bytes));
  bytes.resize(got);
  return bytes;
}

Status read_eh_frame(int fd, const Place& place, ElfObject& object) {
  if (place.exact_size && place.size > kMaxEhFrame) {
    object.is_cut = true;
    return {};
  }
  TRY(object.eh_frame, read_bytes(fd, place, kMaxEhFrame));
  object.eh_frame_address = place.address;
  object.exact_size = place.exact_size;
  return {};
}

Status read_go_table(int fd, const Headers& headers, ElfObject& object) {
  for (const std::string_view name : kGoTableSections) {
    TRY(const auto place, find_by_name(fd, headers, name));
    if (!place) continue;
    if (place->size > kMaxUnwindSections - object.eh_frame.size()) {
      object.is_cut = true;
      break;
    }
    TRY(object.go_table, read_bytes(fd, *place, kMaxGoTable));
    TRY(const auto code, find_by_name(fd, headers, ".text"));
    object.go_program = {.text = code ? code->address : 0, .entry = headers.entry};
    break;
  }
  return {};
}

}  // namespace

Result<ElfObject> read_elf_object(int fd) {
  TRY(const Headers headers, read_all_headers(fd));
  ElfObject object;
  for (const Elf64_Phdr& p : headers.programs) {
    if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) || p.p_filesz == 0) continue;
    if (p.p_filesz > UINT64_MAX - p.p_vaddr || object.segments.size() == kMaxSegments) {
      return Error("an ELF file with unusable segments", ErrorKind::Unsupported);
    }
    object.segments.push_back(
        {.file_offset = p.p_offset, .address = p.p_vaddr, .size = p.p_filesz});
  }
  TRY(auto place, find_by_header(fd, headers));
  if (!place) {
    TRY(place, find_by_name(fd, headers, ".eh_frame"));
  }
  if (place) TRY_VOID(read_eh_frame(fd, *place, object));
  TRY_VOID(read_go_table(fd, headers, object));
  return object;
}

}  // namespace offcpud
