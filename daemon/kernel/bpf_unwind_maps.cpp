// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf_unwind_maps.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace offcpud {
namespace {

Status put(const bpf_map* map, const void* key, const void* value) {
  const int error = bpf_map_update_elem(bpf_map__fd(map), key, value, BPF_ANY);
  if (error != 0) return Error::from_errno(-error, "write to map", bpf_map__name(map));
  return {};
}

Status remove(const bpf_map* map, const void* key) {
  const int error = bpf_map_delete_elem(bpf_map__fd(map), key);
  if (error != 0 && error != -ENOENT) {
    return Error::from_errno(-error, "remove from map", bpf_map__name(map));
  }
  return {};
}

}  // namespace

Result<BpfUnwindMaps> BpfUnwindMaps::open(const UnwindMapHandles& handles) {
  TRY_VOID(check_layout(handles.mappings, sizeof(offcpud_unwind_mapping_key),
                        sizeof(offcpud_unwind_mapping)));
  TRY_VOID(
      check_layout(handles.pages, sizeof(offcpud_unwind_page_key), sizeof(offcpud_unwind_page)));
  TRY_VOID(
      check_layout(handles.files, sizeof(offcpud_unwind_file_key), sizeof(offcpud_unwind_file)));
  TRY(auto rules, MappedArray<offcpud_unwind_rule>::map(handles.rules, true));
  return BpfUnwindMaps(handles, std::move(rules));
}

std::uint32_t BpfUnwindMaps::max_chunks() const {
  return bpf_map__max_entries(handles_.chunks);
}

std::size_t BpfUnwindMaps::max_prefixes() const {
  return bpf_map__max_entries(handles_.mappings);
}

std::size_t BpfUnwindMaps::max_pages() const {
  return bpf_map__max_entries(handles_.pages);
}

std::size_t BpfUnwindMaps::max_files() const {
  return bpf_map__max_entries(handles_.files);
}

Status BpfUnwindMaps::make_chunk(std::uint32_t chunk) {
  const bpf_map_create_opts options{.sz = sizeof(options), .map_flags = BPF_F_MMAPABLE};
  UniqueFd map(bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_rows", sizeof(std::uint32_t),
                              sizeof(offcpud_unwind_chunk), 1, &options));
  if (!map) return Error::from_errno(errno, "create map", "unwind_rows");
  const int fd = map.get();
  TRY_VOID(put(handles_.chunks, &chunk, &fd));
  chunks_.resize(std::max<std::size_t>(chunks_.size(), std::size_t{chunk} + 1));
  chunks_[chunk] = std::move(map);
  return {};
}

// Maps the chunk only for this call: 64 MiB of rows should not count as memory of the daemon.
Status BpfUnwindMaps::write_rows(std::uint32_t chunk, std::uint32_t first,
                                 std::span<const offcpud_unwind_row> rows) {
  void* memory = ::mmap(nullptr, sizeof(offcpud_unwind_chunk), PROT_READ | PROT_WRITE, MAP_SHARED,
                        chunks_[chunk].get(), 0);
  if (memory == MAP_FAILED) return Error::from_errno(errno, "mmap map", "unwind_rows");
  std::ranges::copy(rows, static_cast<offcpud_unwind_chunk*>(memory)->rows + first);
  ::munmap(memory, sizeof(offcpud_unwind_chunk));
  return {};
}

void BpfUnwindMaps::Unmap::operator()(const offcpud_unwind_chunk* chunk) const {
  ::munmap(const_cast<offcpud_unwind_chunk*>(chunk), sizeof(*chunk));
}

Result<std::span<const offcpud_unwind_row>> BpfUnwindMaps::rows(std::uint32_t chunk) {
  if (chunk >= chunks_.size()) return Error("the chunk of rows does not exist");
  readable_.resize(std::max(readable_.size(), chunks_.size()));
  if (!readable_[chunk]) {
    void* memory = ::mmap(nullptr, sizeof(offcpud_unwind_chunk), PROT_READ, MAP_SHARED,
                          chunks_[chunk].get(), 0);
    if (memory == MAP_FAILED) return Error::from_errno(errno, "mmap map", "unwind_rows");
    readable_[chunk].reset(static_cast<const offcpud_unwind_chunk*>(memory));
  }
  return std::span<const offcpud_unwind_row>(readable_[chunk]->rows);
}

Status BpfUnwindMaps::put_file(const offcpud_unwind_file_key& key,
                               const offcpud_unwind_file& file) {
  return put(handles_.files, &key, &file);
}

Status BpfUnwindMaps::remove_file(const offcpud_unwind_file_key& key) {
  return remove(handles_.files, &key);
}

Status BpfUnwindMaps::write_rule(std::uint16_t index, const offcpud_unwind_rule& rule) {
  rules_[index] = rule;
  return {};
}

Status BpfUnwindMaps::put_page(const offcpud_unwind_page_key& key,
                               const offcpud_unwind_page& page) {
  return put(handles_.pages, &key, &page);
}

Status BpfUnwindMaps::remove_page(const offcpud_unwind_page_key& key) {
  return remove(handles_.pages, &key);
}

Status BpfUnwindMaps::put_mapping(const offcpud_unwind_mapping_key& key,
                                  const offcpud_unwind_mapping& mapping) {
  return put(handles_.mappings, &key, &mapping);
}

Status BpfUnwindMaps::remove_mapping(const offcpud_unwind_mapping_key& key) {
  return remove(handles_.mappings, &key);
}

}  // namespace offcpud
