// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <endian.h>

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "unwind/unwind_maps.h"
#include "unwind/unwind_rule.h"

namespace offcpud {

namespace test {
// A process, and where a file begins in its memory.
inline constexpr std::uint32_t kTgid = 4711;
inline constexpr std::uint64_t kBase = 0x7f0000000000;
}  // namespace test

// The maps in memory, and the look-up in them as unwind.bpf.h does it.
class FakeUnwindMaps final : public UnwindMaps {
 public:
  explicit FakeUnwindMaps(std::uint32_t max_chunks = 256) : max_chunks_(max_chunks) {}

  // The rule for an address of a process; nullopt: nothing is mapped there.
  [[nodiscard]] std::optional<UnwindRule> find(std::uint32_t tgid, std::uint64_t address) const {
    const offcpud_unwind_mapping* mapping = mapping_at(tgid, address);
    if (!mapping) return std::nullopt;
    const std::uint64_t linked = address - mapping->bias;
    const auto page = pages.find({mapping->object, static_cast<std::uint32_t>(linked >> 16)});
    if (page == pages.end()) return plain_rule(OFFCPUD_UNWIND_NO_FDE);
    const auto& rows = chunks.at(page->second.chunk);
    std::uint32_t row = page->second.first;
    for (std::uint32_t i = row; i < page->second.first + page->second.rows; ++i) {
      if (rows.at(i).address <= (linked & 0xffff)) row = i;
    }
    return rules.at(rows.at(row).rule);
  }

  [[nodiscard]] const offcpud_unwind_mapping* mapping_at(std::uint32_t tgid,
                                                         std::uint64_t address) const {
    for (std::uint32_t bits = OFFCPUD_UNWIND_KEY_BITS; bits >= 33; --bits) {
      const std::uint64_t block = address >> (96 - bits) << (96 - bits);
      const auto found = mappings.find(Key{bits, htobe32(tgid), htobe64(block)});
      if (found != mappings.end()) return &found->second;
    }
    return nullptr;
  }

  [[nodiscard]] std::uint32_t max_chunks() const override { return max_chunks_; }
  [[nodiscard]] std::size_t max_prefixes() const override { return max_mappings; }
  [[nodiscard]] std::size_t max_pages() const override { return most_pages; }
  [[nodiscard]] std::size_t max_files() const override { return most_files; }
  Status make_chunk(std::uint32_t chunk) override {
    if (chunk != chunks.size()) return Error("chunks are made in order");
    chunks.emplace_back(OFFCPUD_UNWIND_CHUNK_ROWS);
    return {};
  }
  Status write_rows(std::uint32_t chunk, std::uint32_t first,
                    std::span<const offcpud_unwind_row> rows) override {
    for (std::size_t i = 0; i < rows.size(); ++i) chunks.at(chunk).at(first + i) = rows[i];
    return {};
  }
  Status write_rule(std::uint16_t index, const offcpud_unwind_rule& rule) override {
    rules.at(index) = rule;
    return {};
  }
  [[nodiscard]] Result<std::span<const offcpud_unwind_row>> rows(std::uint32_t chunk) override {
    return std::span<const offcpud_unwind_row>(chunks.at(chunk));
  }
  Status put_file(const offcpud_unwind_file_key& key, const offcpud_unwind_file& file) override {
    const Key known{key.inode, key.size, key.device};
    if (files.size() >= most_files && !files.contains(known)) return Error("the map is full");
    files[known] = file;
    return {};
  }
  Status remove_file(const offcpud_unwind_file_key& key) override {
    files.erase({key.inode, key.size, key.device});
    return {};
  }
  Status put_page(const offcpud_unwind_page_key& key, const offcpud_unwind_page& page) override {
    if (fails) return Error("the kernel has no memory");
    if (pages.size() >= most_pages) return Error("the map is full");
    pages[{key.object, key.page}] = page;
    return {};
  }
  Status remove_page(const offcpud_unwind_page_key& key) override {
    if (fails) return Error("the kernel has no memory");
    pages.erase({key.object, key.page});
    return {};
  }
  Status put_mapping(const offcpud_unwind_mapping_key& key,
                     const offcpud_unwind_mapping& mapping) override {
    if (mappings.size() >= max_mappings) return Error("the map is full");
    ++puts;
    if (put) put();
    mappings[Key{key.prefix_bits, key.tgid, key.address}] = mapping;
    return {};
  }
  Status remove_mapping(const offcpud_unwind_mapping_key& key) override {
    ++removals;
    if (put) put();
    if (fails_to_remove) return Error("the kernel has no memory");
    mappings.erase(Key{key.prefix_bits, key.tgid, key.address});
    return {};
  }

  using Key = std::array<std::uint64_t, 3>;
  std::map<Key, offcpud_unwind_mapping> mappings;
  std::map<std::array<std::uint32_t, 2>, offcpud_unwind_page> pages;
  std::map<Key, offcpud_unwind_file> files;
  std::vector<std::vector<offcpud_unwind_row>> chunks;
  std::vector<UnwindRule> rules = std::vector<UnwindRule>(OFFCPUD_UNWIND_MAX_RULES);
  std::size_t max_mappings = SIZE_MAX, most_files = SIZE_MAX, most_pages = SIZE_MAX;
  bool fails = false;                  // to write pages and to remove them
  bool fails_to_remove = false;        // mappings
  std::size_t puts = 0, removals = 0;  // of mappings
  std::function<void()> put;           // called in each of them

 private:
  std::uint32_t max_chunks_;
};

}  // namespace offcpud
