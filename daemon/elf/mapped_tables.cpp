// SPDX-License-Identifier: Apache-2.0
#include "elf/mapped_tables.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/value_at.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostHeaders = 32, kMostDynamic = 128;
constexpr std::uint64_t kPage = 4096;

struct Segments {
  std::optional<Elf64_Phdr> dynamic;
  std::uint64_t lowest = ~std::uint64_t{0};  // address of the first one in memory
};

std::optional<Segments> read_segments(const MappedTables::Read& read, std::uint64_t base) {
  const auto header = read(base, sizeof(Elf64_Ehdr));
  if (header.size() != sizeof(Elf64_Ehdr) || std::memcmp(header.data(), ELFMAG, SELFMAG) != 0) {
    return std::nullopt;
  }
  const auto elf = value_at<Elf64_Ehdr>(header, 0);
  if (elf.e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  const std::size_t count = std::min<std::size_t>(elf.e_phnum, kMostHeaders);
  const auto headers = read(base + elf.e_phoff, count * sizeof(Elf64_Phdr));
  Segments segments;
  for (std::size_t at = 0; at + sizeof(Elf64_Phdr) <= headers.size(); at += sizeof(Elf64_Phdr)) {
    const auto segment = value_at<Elf64_Phdr>(headers, at);
    if (segment.p_type == PT_DYNAMIC) segments.dynamic = segment;
    if (segment.p_type != PT_LOAD) continue;
    segments.lowest = std::min<std::uint64_t>(segments.lowest, segment.p_vaddr / kPage * kPage);
  }
  return segments;
}

}  // namespace

std::optional<MappedTables> MappedTables::read(const Read& read, std::uint64_t base) {
  const auto segments = read_segments(read, base);
  if (!segments || !segments->dynamic || segments->lowest == ~std::uint64_t{0}) return std::nullopt;
  MappedTables tables{.bias = base - segments->lowest};
  const Elf64_Phdr& dynamic = *segments->dynamic;
  const auto entries =
      read(tables.bias + dynamic.p_vaddr,
           std::min<std::size_t>(dynamic.p_memsz, kMostDynamic * sizeof(Elf64_Dyn)));
  // glibc relocates these addresses in place, musl does not.
  const auto in_memory = [&](std::uint64_t address) {
    return address < base ? tables.bias + address : address;
  };
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = value_at<Elf64_Dyn>(entries, at);
    if (entry.d_tag == DT_SYMTAB) tables.symbols = in_memory(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRTAB) tables.names = in_memory(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) tables.names_size = entry.d_un.d_val;
    if (entry.d_tag == DT_GNU_HASH) tables.hashes = in_memory(entry.d_un.d_ptr);
  }
  return tables;
}

}  // namespace offcpud
