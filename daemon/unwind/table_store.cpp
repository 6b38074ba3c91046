// SPDX-License-Identifier: Apache-2.0
// The objects of the store. table_store_room.cpp decides about room; table_store_mappings.cpp
// has the processes.
#include "unwind/table_store.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <limits>
#include <utility>

#include "base/cpu_shares.h"
#include "mappings/mapped_file_id.h"
#include "unwind/memory_page.h"

namespace offcpud {
namespace {

// How many files with the same contents are recognized without reading: the latest ones, one per
// image of a container runtime.
constexpr std::size_t kMaxFiles = 64;

}  // namespace

Result<TableStore> TableStore::create(UnwindMaps& maps, const TableStoreLimits& limits) {
  TRY(const ContentKeys keys, ContentKeys::with_random_secret());
  for (const auto kind : {OFFCPUD_UNWIND_INVALID, OFFCPUD_UNWIND_NO_FDE}) {
    TRY_VOID(maps.write_rule(
        static_cast<std::uint16_t>(kind == OFFCPUD_UNWIND_INVALID ? OFFCPUD_UNWIND_RULE_INVALID
                                                                  : OFFCPUD_UNWIND_RULE_NO_FDE),
        plain_rule(kind)));
  }
  return TableStore(maps, limits, keys);
}

TableStore::TableStore(UnwindMaps& maps, const TableStoreLimits& limits, const ContentKeys& keys)
    : maps_(maps), limits_(limits), keys_(keys), dictionary_(limits.rules) {}

Result<UnwindObjectId> TableStore::add_object(int fd, const ShareOwner& owner,
                                              const std::optional<FileVersion>& original) {
  const auto version = original ? original : version_of_file(fd);
  if (!version) return Error::from_errno(errno, "stat an ELF file");
  const FileKey file{.device = version->inode.device_major << 20 | version->inode.device_minor,
                     .inode = version->inode.inode,
                     .size = version->size,
                     .ctime_ns = version->changed_ns};
  if (const auto known = by_file_.find(file); known != by_file_.end()) {
    Object& object = objects_.at(known->second);
    const auto used = std::ranges::find(object.files, file);
    if (used != object.files.end()) std::rotate(used, std::next(used), object.files.end());
    if (object.has_room || object.tried_at == freed_) {
      touch(known->second);
      return known->second;
    }
  }
  TRY(const ElfObject elf, read_elf_object(fd));
  if (elf.is_truncated) counters_.refused++;
  return add_contents(elf, file, owner);
}

Result<UnwindObjectId> TableStore::add_contents(const ElfObject& elf, const FileKey& file,
                                                const ShareOwner& owner) {
  const std::uint64_t content = keys_.key_of(elf);
  UnwindObjectId id = OFFCPUD_UNWIND_NO_OBJECT;
  if (const auto known = by_content_.find(content); known != by_content_.end()) {
    id = known->second;
    const Object& object = objects_.at(id);
    touch(id);
    TRY_VOID(remember_file(id, file, owner));
    if (object.has_room || object.tried_at == freed_) return id;
  } else {
    id = ++last_id_;
    Object& object = objects_[id];
    object.content = content;
    object.owner = owner;
    object.segments = elf.segments;
    object.unused = unused_.insert(unused_.end(), id);
    by_content_.emplace(content, id);
    TRY_VOID(remember_file(id, file, owner));
  }
  TRY_VOID(compile(id, elf, owner));
  TRY_VOID(limit_unused());
  return id;
}

// If the kernel's map is full, walks do without this file; processes with mappings do not need it.
Status TableStore::remember_file(UnwindObjectId id, const FileKey& file, const ShareOwner& owner) {
  Object& object = objects_.at(id);
  if (!by_file_.contains(file) && by_file_.size() >= maps_.max_files()) {
    Asking asking{.object = id, .owner = owner, .files = 1, .of = Room::Files, .victims = {}};
    TRY_VOID(make_room(Room::Files, asking));
  }
  offcpud_unwind_file known{.object = id, .segments = 0, .segment = {}};
  for (const ExecutableSegment& segment : object.segments) {
    if (known.segments == OFFCPUD_UNWIND_SEGMENTS) break;
    const std::uint64_t before = segment.file_offset & page_mask();
    known.segment[known.segments++] = {.first = segment.file_offset - before,
                                       .size = segment.size + before,
                                       .address = segment.address - before};
  }
  if (!maps_.put_file(key_of(file), known)) {
    counters_.files_left_out++;
    return {};
  }
  if (!by_file_.emplace(file, id).second) return {};
  object.files.push_back(file);
  if (object.files.size() <= kMaxFiles) return {};
  const FileKey oldest = object.files.front();
  object.files.erase(object.files.begin());
  return forget_file(oldest);
}

// Two entries may differ in ctime only; to the kernel they are the same file.
Status TableStore::forget_file(const FileKey& file) {
  by_file_.erase(file);
  FileKey any_time = file;
  any_time.ctime_ns = std::numeric_limits<std::int64_t>::min();
  const auto same = by_file_.lower_bound(any_time);
  if (same != by_file_.end() && same->first.device == file.device &&
      same->first.inode == file.inode && same->first.size == file.size) {
    return {};
  }
  return maps_.remove_file(key_of(file));
}

offcpud_unwind_file_key TableStore::key_of(const FileKey& file) {
  return {.inode = file.inode, .size = file.size, .device = file.device, .reserved = 0};
}

Status TableStore::compile(UnwindObjectId id, const ElfObject& elf, const ShareOwner& owner) {
  std::function<void()> between;
  if (between_) {
    between = [this] {
      const auto before = thread_cpu_time();
      between_();
      between_cpu_ += thread_cpu_time() - before;
    };
  }
  const auto table = compile_unwind_table(elf, limits_.object, between);
  if (!table) {  // a file beyond the limits is counted, not an error
    counters_.refused++;
    objects_.at(id).has_room = true;
    return {};
  }
  if (table->rules_truncated) counters_.refused++;
  counters_.compiled++;
  Asking asking{.object = id,
                .owner = owner,
                .rows = table->rows.size(),
                .pages = table->pages.size(),
                .rules = table->rules.size(),
                .victims = {}};
  if (auto status = place(*table, asking); !status) {
    Object& object = objects_.at(id);
    object.has_room = false;
    object.tried_at.reset();
    // Report the first error.
    (void)(object.mappings > 0 ? remove_table(id) : remove_object(id));
    return std::move(status).error().with("put an unwind table into the kernel's maps");
  }
  return {};
}

Status TableStore::remove_table(UnwindObjectId id) {
  Object& object = objects_.at(id);
  for (const PlacedPage& page : object.pages) {
    TRY_VOID(maps_.remove_page({.object = id, .page = page.number}));
  }
  for (const PlacedPage& page : object.pages) space_.give_back(page.rows);
  pages_ -= object.pages.size();
  for (const std::uint16_t rule : object.rules) dictionary_.give_back(rule);
  // A table that was only partly placed frees no more room than there was.
  if (object.has_room && !object.pages.empty()) freed_++;
  object.pages.clear();
  object.rules.clear();
  return {};
}

// Call it only for an object that no process maps.
Status TableStore::remove_object(UnwindObjectId id) {
  Object& object = objects_.at(id);
  TRY_VOID(remove_table(id));
  for (const FileKey& file : object.files) TRY_VOID(forget_file(file));
  by_content_.erase(object.content);
  unused_.erase(object.unused);
  objects_.erase(id);
  return {};
}

Status TableStore::limit_unused() {
  while (!unused_.empty() && objects_.at(unused_.front()).is_code) {
    TRY_VOID(remove_object(unused_.front()));
  }
  while (unused_.size() > std::max<std::size_t>(limits_.unused_objects, 1)) {
    TRY_VOID(remove_object(unused_.front()));
  }
  return {};
}

void TableStore::use(UnwindObjectId id) {
  if (id == OFFCPUD_UNWIND_NO_OBJECT) return;
  Object& object = objects_.at(id);
  if (object.mappings++ == 0) unused_.erase(object.unused);
}

void TableStore::stop_using(UnwindObjectId id) {
  if (id == OFFCPUD_UNWIND_NO_OBJECT) return;
  Object& object = objects_.at(id);
  if (--object.mappings > 0) return;
  // No later process can have the same code, so that goes first.
  object.unused = unused_.insert(object.is_code ? unused_.begin() : unused_.end(), id);
}

void TableStore::touch(UnwindObjectId id) {
  Object& object = objects_.at(id);
  if (object.mappings == 0) unused_.splice(unused_.end(), unused_, object.unused);
}

bool TableStore::is_to_add_again(UnwindObjectId object) const {
  const auto known = objects_.find(object);
  return known != objects_.end() && !known->second.has_room && known->second.tried_at != freed_;
}

TableStoreStats TableStore::stats() const {
  TableStoreStats stats = counters_;
  stats.objects = objects_.size();
  stats.unused_objects = unused_.size();
  stats.processes = processes_.size();
  for (const auto& [tgid, mappings] : processes_) stats.mappings += mappings.size();
  stats.prefixes = prefixes_;
  stats.rules = dictionary_.size();
  stats.rows = space_.rows_in_use();
  stats.row_bytes = space_.chunks() * sizeof(offcpud_unwind_chunk);
  return stats;
}

}  // namespace offcpud
