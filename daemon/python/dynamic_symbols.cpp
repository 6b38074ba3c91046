// SPDX-License-Identifier: Apache-2.0
#include "python/dynamic_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace offcpud {
namespace {

constexpr std::size_t kMostHeaders = 32, kMostDynamic = 128;
constexpr std::uint32_t kMostWords = 1 << 20;  // of a filter, in words, and of buckets
constexpr std::size_t kMostLinks = 256;        // of a chain; libpython's longest has 8
constexpr std::uint64_t kPage = 4096;

// The hash of DT_GNU_HASH (Bernstein's, as in glibc, dl-new-hash.h).
std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

std::optional<DynamicSymbols> DynamicSymbols::read(const MemoryWords& memory, std::uint64_t base) {
  const auto header = memory.range(base, sizeof(Elf64_Ehdr));
  if (header.size() != sizeof(Elf64_Ehdr) || std::memcmp(header.data(), ELFMAG, SELFMAG) != 0) {
    return std::nullopt;
  }
  const auto elf = value_at<Elf64_Ehdr>(header, 0);
  if (elf.e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  const std::size_t count = std::min<std::size_t>(elf.e_phnum, kMostHeaders);
  const auto headers = memory.range(base + elf.e_phoff, count * sizeof(Elf64_Phdr));
  std::optional<Elf64_Phdr> dynamic;
  std::uint64_t lowest = ~std::uint64_t{0};
  for (std::size_t at = 0; at + sizeof(Elf64_Phdr) <= headers.size(); at += sizeof(Elf64_Phdr)) {
    const auto segment = value_at<Elf64_Phdr>(headers, at);
    if (segment.p_type == PT_DYNAMIC) dynamic = segment;
    if (segment.p_type == PT_LOAD) lowest = std::min(lowest, segment.p_vaddr / kPage * kPage);
  }
  if (!dynamic || lowest == ~std::uint64_t{0}) return std::nullopt;
  DynamicSymbols found(memory);
  found.bias_ = base - lowest;
  const auto entries =
      memory.range(found.bias_ + dynamic->p_vaddr,
                   std::min<std::size_t>(dynamic->p_memsz, kMostDynamic * sizeof(Elf64_Dyn)));
  std::uint64_t hashes = 0;
  // glibc relocates these addresses in place, musl does not.
  const auto in_memory = [&](std::uint64_t address) {
    return address < base ? found.bias_ + address : address;
  };
  for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
    const auto entry = value_at<Elf64_Dyn>(entries, at);
    if (entry.d_tag == DT_SYMTAB) found.symbols_ = in_memory(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRTAB) found.names_ = in_memory(entry.d_un.d_ptr);
    if (entry.d_tag == DT_GNU_HASH) hashes = in_memory(entry.d_un.d_ptr);
  }
  if (found.symbols_ == 0 || found.names_ == 0 || hashes == 0) return std::nullopt;
  // Buckets, first symbol, words of the Bloom filter, its shift; then the filter, the buckets, and
  // the chains, which have an element for each symbol from the first on.
  const auto table = memory.range(hashes, 4 * sizeof(std::uint32_t));
  found.bucket_count_ = value_at<std::uint32_t>(table, 0);
  found.first_symbol_ = value_at<std::uint32_t>(table, 4);
  const auto filter = value_at<std::uint32_t>(table, 8);
  if (found.bucket_count_ == 0 || found.bucket_count_ > kMostWords || filter > kMostWords) {
    return std::nullopt;
  }
  found.buckets_ = hashes + 16 + std::uint64_t{filter} * 8;
  found.chains_ = found.buckets_ + std::uint64_t{found.bucket_count_} * 4;
  return found;
}

bool DynamicSymbols::has_name(std::uint64_t at, std::string_view name) const {
  const auto bytes = memory_->range(at, name.size() + 1);
  return bytes.size() == name.size() + 1 &&
         std::memcmp(bytes.data(), name.data(), name.size()) == 0 && bytes.back() == std::byte{0};
}

std::optional<DynamicSymbols::Symbol> DynamicSymbols::find(std::string_view name) const {
  const std::uint32_t hash = gnu_hash(name);
  const auto bucket =
      memory_->read<std::uint32_t>(buckets_ + std::uint64_t{hash % bucket_count_} * 4).value_or(0);
  if (bucket < first_symbol_ || bucket == 0) return std::nullopt;
  const auto chain = memory_->range(chains_ + std::uint64_t{bucket - first_symbol_} * 4,
                                    kMostLinks * sizeof(std::uint32_t));
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= chain.size(); at += 4) {
    const auto link = value_at<std::uint32_t>(chain, at);  // the lowest bit: the chain ends
    if ((link | 1U) == (hash | 1U)) {
      const std::uint64_t index = bucket + at / 4;
      const auto bytes = memory_->range(symbols_ + index * sizeof(Elf64_Sym), sizeof(Elf64_Sym));
      const auto symbol = value_at<Elf64_Sym>(bytes, 0);
      if (bytes.size() == sizeof(Elf64_Sym) && symbol.st_shndx != SHN_UNDEF &&
          has_name(names_ + symbol.st_name, name)) {
        return Symbol{.address = bias_ + symbol.st_value, .size = symbol.st_size};
      }
    }
    if ((link & 1U) != 0) break;
  }
  return std::nullopt;
}

}  // namespace offcpud
