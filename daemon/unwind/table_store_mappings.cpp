// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>

#include "unwind/address_prefixes.h"
#include "unwind/memory_page.h"
#include "unwind/table_store.h"

namespace offcpud {
namespace {

// Address in memory - address as linked, if `file_offset` of the file is mapped at `begin`. Memory
// is mapped in whole pages, so a segment extends down to the start of its first page.
std::optional<std::uint64_t> bias_of(const std::vector<ExecutableSegment>& segments,
                                     std::uint64_t begin, std::uint64_t file_offset) {
  for (const ExecutableSegment& segment : segments) {
    const std::uint64_t first = segment.file_offset & ~page_mask();
    const std::uint64_t size = segment.size + (segment.file_offset & page_mask());
    if (file_offset < first || file_offset - first >= size) continue;
    return begin - (segment.address + (file_offset - segment.file_offset));
  }
  return std::nullopt;
}

}  // namespace

Status TableStore::add_mapping(std::uint32_t tgid, std::uint64_t begin, std::uint64_t end,
                               std::uint64_t file_offset, UnwindObjectId object) {
  if (begin >= end) return Error("a mapping that ends before it begins");
  Mapping mapping{.end = end, .object = object};
  if (object != OFFCPUD_UNWIND_NO_OBJECT) {
    const auto known = objects_.find(object);
    if (known == objects_.end()) {
      return Error("unwind object " + std::to_string(object) + " is no longer in the store");
    }
    const auto bias = bias_of(known->second.segments, begin, file_offset);
    // This part of the file is not in an executable segment; the process made it executable.
    if (!bias) mapping.object = OFFCPUD_UNWIND_NO_OBJECT;
    mapping.bias = bias.value_or(0);
  }
  use(mapping.object);  // first, since the replaced mapping may be the object's last one
  Status status = remove_mappings(tgid, begin, end);
  if (status && processes_[tgid].size() >= limits_.mappings_per_process) {
    status = Error("a process with more mappings than the limit");
  }
  if (status) status = put(tgid, begin, mapping);
  stop_using(mapping.object);
  if (processes_[tgid].empty()) processes_.erase(tgid);
  return status;
}

Status TableStore::put(std::uint32_t tgid, std::uint64_t begin, const Mapping& mapping) {
  processes_[tgid].emplace(begin, mapping);
  use(mapping.object);
  const offcpud_unwind_mapping value{.begin = begin,
                                     .end = mapping.end,
                                     .bias = mapping.bias,
                                     .object = mapping.object,
                                     .reserved = 0};
  const auto keys = address_prefixes(tgid, begin, mapping.end);
  prefixes_ += keys.size();
  prefixes_of_[tgid] += keys.size();
  for (const auto& key : keys) {
    if (auto status = maps_.put_mapping(key, value); !status) {
      (void)erase(tgid, begin, mapping);  // report the first error
      return status;
    }
  }
  return {};
}

Status TableStore::erase(std::uint32_t tgid, std::uint64_t begin, const Mapping& mapping) {
  Status status;
  const auto keys = address_prefixes(tgid, begin, mapping.end);
  for (const auto& key : keys) {
    if (auto removed = maps_.remove_mapping(key); !removed) status = std::move(removed);
  }
  prefixes_ -= keys.size();
  const auto of_process = prefixes_of_.find(tgid);
  if ((of_process->second -= keys.size()) == 0) prefixes_of_.erase(of_process);
  stop_using(mapping.object);
  processes_[tgid].erase(begin);
  return status;
}

Status TableStore::remove_mappings(std::uint32_t tgid, std::uint64_t begin, std::uint64_t end) {
  const auto process = processes_.find(tgid);
  if (process == processes_.end() || begin >= end) return {};
  Mappings& mappings = process->second;
  auto next = mappings.upper_bound(begin);
  if (next != mappings.begin() && std::prev(next)->second.end > begin) --next;

  Status status;
  while (next != mappings.end() && next->first < end) {
    const auto [old_begin, old] = *next;
    use(old.object);  // parts of it may remain
    if (auto erased = erase(tgid, old_begin, old); !erased) status = std::move(erased);
    if (old_begin < begin) {
      Mapping before = old;
      before.end = begin;
      if (auto kept = put(tgid, old_begin, before); !kept) status = std::move(kept);
    }
    if (old.end > end) {
      if (auto kept = put(tgid, end, old); !kept) status = std::move(kept);
    }
    stop_using(old.object);
    next = mappings.lower_bound(std::min(old.end, end));
  }
  if (mappings.empty()) processes_.erase(process);
  return status;
}

Status TableStore::remove_process(std::uint32_t tgid) {
  users_.erase(tgid);  // the next process of this number may be another user's
  TRY_VOID(remove_mappings(tgid, 0, UINT64_MAX));
  return limit_unused();
}

Result<bool> TableStore::remove_some(std::uint32_t tgid, std::size_t mappings) {
  const auto process = processes_.find(tgid);
  if (process == processes_.end() || process->second.size() <= mappings) {
    TRY_VOID(remove_process(tgid));
    return true;
  }
  const auto rest = std::next(process->second.begin(), static_cast<std::ptrdiff_t>(mappings));
  TRY_VOID(remove_mappings(tgid, 0, rest->first));
  return false;
}

Status TableStore::copy_process(std::uint32_t parent, std::uint32_t child) {
  TRY_VOID(remove_process(child));
  const auto process = processes_.find(parent);
  if (process == processes_.end()) return {};
  const Mappings mappings = process->second;
  for (const auto& [begin, mapping] : mappings) TRY_VOID(put(child, begin, mapping));
  return {};
}

std::optional<UnwindLookup::Place> TableStore::place(std::uint32_t tgid,
                                                     std::uint64_t address) const {
  const auto process = processes_.find(tgid);
  if (process == processes_.end()) return std::nullopt;
  auto after = process->second.upper_bound(address);
  if (after == process->second.begin()) return std::nullopt;
  const auto& [begin, mapping] = *std::prev(after);
  if (address >= mapping.end) return std::nullopt;
  return Place{begin, mapping.end, mapping.bias, mapping.object};
}

offcpud_unwind_rule TableStore::rule(UnwindObjectId object, std::uint64_t address) const {
  const auto nothing = plain_rule(OFFCPUD_UNWIND_NO_FDE);
  const auto known = objects_.find(object);
  if (known == objects_.end()) return nothing;
  const std::uint64_t number = address >> OFFCPUD_UNWIND_PAGE_SHIFT;
  const auto& pages = known->second.pages;  // ascending, as they were placed
  const auto page = std::ranges::lower_bound(pages, number, {}, &PlacedPage::number);
  if (page == pages.end() || page->number != number) return nothing;
  const auto chunk = maps_.rows(page->rows.chunk);
  if (!chunk) return nothing;
  const auto rows = chunk->subspan(page->rows.first, page->rows.rows);
  const auto low = static_cast<std::uint16_t>(address);
  const auto after = std::ranges::upper_bound(rows, low, {}, &offcpud_unwind_row::address);
  return after == rows.begin() ? nothing : dictionary_.rule(std::prev(after)->rule);
}

}  // namespace offcpud
