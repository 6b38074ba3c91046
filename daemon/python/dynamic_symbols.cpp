// SPDX-License-Identifier: Apache-2.0
#include "python/dynamic_symbols.h"

#include <elf.h>

#include <cstring>
#include <vector>

#include "elf/mapped_tables.h"

namespace offcpud {
namespace {

constexpr std::uint32_t kMostWords = 1 << 20;  // of a filter, in words, and of buckets
constexpr std::size_t kMostLinks = 256;        // of a chain; libpython's longest has 8

// The hash of DT_GNU_HASH (Bernstein's, as in glibc, dl-new-hash.h).
std::uint32_t gnu_hash(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

}  // namespace

std::optional<DynamicSymbols> DynamicSymbols::read(const MemoryWords& memory, std::uint64_t base) {
  const auto tables = MappedTables::read(
      [&](std::uint64_t address, std::size_t size) { return memory.range(address, size); }, base);
  if (!tables || tables->symbols == 0 || tables->names == 0 || tables->hashes == 0) {
    return std::nullopt;
  }
  DynamicSymbols found(memory);
  found.bias_ = tables->bias;
  found.symbols_ = tables->symbols;
  found.names_ = tables->names;
  // Buckets, first symbol, words of the Bloom filter, its shift; then the filter, the buckets, and
  // the chains, which have an element for each symbol from the first on.
  const auto table = memory.range(tables->hashes, 4 * sizeof(std::uint32_t));
  found.bucket_count_ = value_at<std::uint32_t>(table, 0);
  found.first_symbol_ = value_at<std::uint32_t>(table, 4);
  const auto filter = value_at<std::uint32_t>(table, 8);
  if (found.bucket_count_ == 0 || found.bucket_count_ > kMostWords || filter > kMostWords) {
    return std::nullopt;
  }
  found.buckets_ = tables->hashes + 16 + std::uint64_t{filter} * 8;
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
