// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "unwind.h"

namespace offcpud {

// The maps of bpf/unwind_maps.bpf.h, as TableStore writes them. An interface, so that tests can
// replace them. Every change takes effect at once, also for walks in progress.
class UnwindMaps {
 public:
  virtual ~UnwindMaps() = default;

  [[nodiscard]] virtual std::uint32_t max_chunks() const = 0;
  [[nodiscard]] virtual std::size_t max_prefixes() const = 0;  // keys of put_mapping()
  [[nodiscard]] virtual std::size_t max_pages() const = 0;     // keys of put_page()
  [[nodiscard]] virtual std::size_t max_files() const = 0;     // keys of put_file()
  // Chunks are made in order, from 0 on, and stay. Takes 10 ms, because the kernel waits until no
  // program uses the old state of the map.
  virtual Status make_chunk(std::uint32_t chunk) = 0;
  virtual Status write_rows(std::uint32_t chunk, std::uint32_t first,
                            std::span<const offcpud_unwind_row> rows) = 0;
  virtual Status write_rule(std::uint16_t index, const offcpud_unwind_rule& rule) = 0;

  // The rows of a chunk, read-only, valid until the object is destroyed. Error: it cannot be
  // mapped.
  [[nodiscard]] virtual Result<std::span<const offcpud_unwind_row>> rows(std::uint32_t chunk) = 0;

  virtual Status put_file(const offcpud_unwind_file_key& key, const offcpud_unwind_file& file) = 0;
  virtual Status remove_file(const offcpud_unwind_file_key& key) = 0;

  // Replaces the value of an existing key. Removing a key that does not exist is no error.
  virtual Status put_page(const offcpud_unwind_page_key& key, const offcpud_unwind_page& page) = 0;
  virtual Status remove_page(const offcpud_unwind_page_key& key) = 0;
  virtual Status put_mapping(const offcpud_unwind_mapping_key& key,
                             const offcpud_unwind_mapping& mapping) = 0;
  virtual Status remove_mapping(const offcpud_unwind_mapping_key& key) = 0;
};

}  // namespace offcpud
