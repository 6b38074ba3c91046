// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bpf/libbpf.h>

#include <memory>
#include <vector>

#include "base/unique_handle.h"
#include "kernel/map_view.h"
#include "unwind/unwind_maps.h"

namespace offcpud {

// The maps of unwind_maps.bpf.h in a loaded object. The object must outlive this.
struct UnwindMapHandles {
  const bpf_map* mappings = nullptr;
  const bpf_map* pages = nullptr;
  const bpf_map* chunks = nullptr;
  const bpf_map* rules = nullptr;
  const bpf_map* files = nullptr;
};

// Writes these maps. Needs CAP_BPF as long as it lives, to create chunks. Single-threaded.
class BpfUnwindMaps final : public UnwindMaps {
 public:
  static Result<BpfUnwindMaps> open(const UnwindMapHandles& handles);

  [[nodiscard]] std::uint32_t max_chunks() const override;
  [[nodiscard]] std::size_t max_prefixes() const override;
  [[nodiscard]] std::size_t max_pages() const override;
  [[nodiscard]] std::size_t max_files() const override;
  Status make_chunk(std::uint32_t chunk) override;
  Status write_rows(std::uint32_t chunk, std::uint32_t first,
                    std::span<const offcpud_unwind_row> rows) override;
  Status write_rule(std::uint16_t index, const offcpud_unwind_rule& rule) override;
  [[nodiscard]] Result<std::span<const offcpud_unwind_row>> rows(std::uint32_t chunk) override;
  Status put_file(const offcpud_unwind_file_key& key, const offcpud_unwind_file& file) override;
  Status remove_file(const offcpud_unwind_file_key& key) override;
  Status put_page(const offcpud_unwind_page_key& key, const offcpud_unwind_page& page) override;
  Status remove_page(const offcpud_unwind_page_key& key) override;
  Status put_mapping(const offcpud_unwind_mapping_key& key,
                     const offcpud_unwind_mapping& mapping) override;
  Status remove_mapping(const offcpud_unwind_mapping_key& key) override;

 private:
  BpfUnwindMaps(const UnwindMapHandles& handles, MappedArray<offcpud_unwind_rule> rules)
      : handles_(handles), rules_(std::move(rules)) {}

  UnwindMapHandles handles_;
  MappedArray<offcpud_unwind_rule> rules_;
  struct Unmap {
    void operator()(const offcpud_unwind_chunk* chunk) const;
  };
  std::vector<UniqueFd> chunks_;
  std::vector<std::unique_ptr<const offcpud_unwind_chunk, Unmap>> readable_;  // null: not yet read
};

}  // namespace offcpud
