// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/share_owner.h"
#include "mappings/opened_file.h"
#include "unwind/content_key.h"
#include "unwind/remote_walk.h"
#include "unwind/row_space.h"
#include "unwind/rule_dictionary.h"
#include "unwind/table_victims.h"
#include "unwind/unwind_maps.h"
#include "unwind/unwind_table.h"

namespace offcpud {

// The id of an object in the kernel's maps; never reused. OFFCPUD_UNWIND_NO_OBJECT: none.
using UnwindObjectId = std::uint32_t;

struct TableStoreLimits {
  std::uint64_t row_bytes = 64 << 20;  // in the kernel, allocated as needed
  std::uint32_t rules = OFFCPUD_UNWIND_MAX_RULES;
  std::size_t unused_objects = 1'024;         // kept although no process maps them
  std::size_t mappings_per_process = 65'530;  // vm.max_map_count; more are refused
  UnwindLimits object;
};

struct TableStoreStats {
  std::size_t objects = 0;         // known ones, used or not
  std::size_t unused_objects = 0;  // of these, those kept for later processes
  std::size_t processes = 0;
  std::size_t mappings = 0;
  std::size_t prefixes = 0;  // keys of the mappings in the kernel's map
  std::size_t rules = 0;
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;     // size of the chunks
  std::uint64_t compiled = 0;      // tables made since the start
  std::uint64_t evictions = 0;     // unused tables removed to make room
  std::uint64_t taken_out = 0;     // tables of mapped objects removed to make room for others
  std::uint64_t without_room = 0;  // tables that found no room even so
  // Files left out for lack of room; walks of unknown processes do not find them.
  std::uint64_t files_left_out = 0;
  std::uint64_t refused = 0;  // files of which the limits left something out
};

// Puts unwind tables and mappings of processes into the maps of the kernel programs. A table is
// made once for all files with the same contents, whatever their names. It is kept as long as a
// process maps it, and longer if there is room. When room is short, the tables of the users who
// hold most are removed (TableVictims), so that no user's files leave others without tables.
//
// Single-threaded. The maps must outlive the store, and keep their contents when it is destroyed.
// An Error means that a map could not be written; the store remains usable.
//
// When a table is removed, walks that began before may read its rows after they were reused. This
// only concerns processes that unmapped the object meanwhile; their stacks end early or wrongly.
class TableStore final : public UnwindLookup {
 public:
  static Result<TableStore> create(UnwindMaps& maps, const TableStoreLimits& limits = {});

  // The user of a process; called when room is short. Without it, all processes are one user's.
  using UserOf = std::function<ShareOwner(std::uint32_t tgid)>;
  void set_users(UserOf user_of) { user_of_ = std::move(user_of); }

  // add_object() calls `between` every few milliseconds, because a large object takes long. It may
  // look up entries, but must not change anything.
  void set_between(std::function<void()> between) { between_ = std::move(between); }
  // CPU time that the calling thread has spent in `between` since the start, so not on added
  // objects.
  [[nodiscard]] std::chrono::nanoseconds between_cpu() const { return between_cpu_; }

  // Returns the object in a file, and compiles its table unless it is known: milliseconds, 60 for
  // libjvm. The descriptor stays the caller's and may be closed. `owner` is about to map the
  // object. `original`: the file that processes map, if this one is a copy. Walks of processes
  // without mappings here find an object only by the last 64 files added with its contents.
  //
  // A file without .eh_frame, or without room for its table, is an object too: walks know its
  // mapping and continue by other means. Error of kind Unsupported: not an ELF file for x86-64.
  // Other errors: the file could not be read or its table not written; add it again.
  Result<UnwindObjectId> add_object(int fd, const ShareOwner& owner = {},
                                    const std::optional<FileVersion>& original = {});

  // Maps `begin` <= addresses < `end` of the process to the object, from `file_offset` on,
  // replacing former mappings like mmap. OFFCPUD_UNWIND_NO_OBJECT: executable memory without a
  // file. Error: the object was unmapped for so long that it was removed; add it again.
  Status add_mapping(std::uint32_t tgid, std::uint64_t begin, std::uint64_t end,
                     std::uint64_t file_offset, UnwindObjectId object);
  // Sets the table for code that the program compiled while it ran: for the parts of the process's
  // memory from `begin` up to `end` where no file is mapped. Addresses in the table count from
  // `begin`. Replaces an earlier table of this kind. What the process maps there later has no
  // table.
  Status put_code(std::uint32_t tgid, std::uint64_t begin, std::uint64_t end,
                  const UnwindTable& table);
  Status remove_mappings(std::uint32_t tgid, std::uint64_t begin, std::uint64_t end);
  Status remove_process(std::uint32_t tgid);  // exit, and exec
  // Like remove_process(), but removes at most `mappings` mappings. True: none is left.
  Result<bool> remove_some(std::uint32_t tgid, std::size_t mappings);
  Status copy_process(std::uint32_t parent, std::uint32_t child);  // fork

  [[nodiscard]] std::optional<Place> place(std::uint32_t tgid,
                                           std::uint64_t address) const override;
  [[nodiscard]] offcpud_unwind_rule rule(UnwindObjectId object,
                                         std::uint64_t address) const override;

  // Whether to add it again: its table could not be written, or found no room and some is free now.
  [[nodiscard]] bool is_to_add_again(UnwindObjectId object) const;

  [[nodiscard]] TableStoreStats stats() const;
  [[nodiscard]] std::uint64_t refused() const { return counters_.refused; }  // as in stats()
  // Tables left out or removed for lack of room, and files left out, as in stats().
  [[nodiscard]] std::uint64_t tables_left_out() const {
    return counters_.without_room + counters_.taken_out;
  }
  [[nodiscard]] std::uint64_t files_left_out() const { return counters_.files_left_out; }

  // The size of the kernel's map of mappings, which all processes share; how much of it is used,
  // and by which process.
  [[nodiscard]] std::size_t max_prefixes() const { return maps_.max_prefixes(); }
  [[nodiscard]] std::size_t prefixes() const { return prefixes_; }
  [[nodiscard]] const std::unordered_map<std::uint32_t, std::size_t>& prefixes_by_process() const {
    return prefixes_of_;
  }

 private:
  // Identifies a file as the kernel's programs do; ctime cannot be set back.
  struct FileKey {
    std::uint32_t device;  // as in offcpud_unwind_file_key
    std::uint64_t inode, size;
    std::int64_t ctime_ns;
    auto operator<=>(const FileKey&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  struct PlacedPage {
    std::uint32_t number = 0;
    RowExtent rows;
  };
  struct Object {
    std::uint64_t content = 0;
    std::vector<FileKey> files;  // least recently added first
    std::vector<ExecutableSegment> segments;
    std::vector<PlacedPage> pages;
    std::vector<std::uint16_t> rules;
    ShareOwner owner;       // the user who was first about to map it
    bool has_room = false;  // false: its table is not in the maps
    bool is_code = false;   // of put_code()
    // The value of `freed_` when there was no room. Nothing: the table was not tried, or could not
    // be written.
    std::optional<std::uint64_t> tried_at;
    std::uint64_t mappings = 0;
    std::list<UnwindObjectId>::iterator unused;  // valid while mappings is 0
  };
  struct Mapping {
    std::uint64_t end = 0, bias = 0;
    UnwindObjectId object = OFFCPUD_UNWIND_NO_OBJECT;
  };
  using Mappings = std::map<std::uint64_t, Mapping>;  // by begin; without overlap

  TableStore(UnwindMaps& maps, const TableStoreLimits& limits, const ContentKeys& keys);

  // The resources that may run short.
  enum class Room { Rows, Pages, Rules, Files };
  // A request for room, and for whom.
  struct Asking {
    UnwindObjectId object = OFFCPUD_UNWIND_NO_OBJECT;
    ShareOwner owner;
    std::uint64_t rows = 0, pages = 0, rules = 0, files = 0;
    Room of = Room::Rows;  // the resource that `victims` are for
    std::optional<TableVictims> victims;
  };

  Result<UnwindObjectId> add_contents(const ElfObject& elf, const FileKey& file,
                                      const ShareOwner& owner);
  static offcpud_unwind_file_key key_of(const FileKey& file);
  Status remember_file(UnwindObjectId id, const FileKey& file, const ShareOwner& owner);
  Status forget_file(const FileKey& file);
  Status compile(UnwindObjectId id, const ElfObject& elf, const ShareOwner& owner);

  // These are in table_store_room.cpp. False: there is no room.
  Status place(const UnwindTable& table, Asking& asking);
  Result<bool> place_all(const UnwindTable& table, Asking& asking);
  Result<bool> place_rules(const UnwindTable& table, Asking& asking,
                           std::vector<std::uint16_t>& indices);
  Result<bool> place_page(const UnwindTable& table, const UnwindTable::Page& page,
                          const std::vector<std::uint16_t>& indices, Asking& asking);
  Result<bool> make_room(Room of, Asking& asking);
  [[nodiscard]] TableVictims victims_for(Room of, const Asking& asking);
  [[nodiscard]] std::unordered_map<UnwindObjectId, std::vector<ShareOwner>> users();
  [[nodiscard]] static std::uint64_t held(Room of, const Object& object);
  [[nodiscard]] std::uint64_t capacity(Room of) const;
  [[nodiscard]] std::uint64_t max_chunks() const;
  ShareOwner user_of(std::uint32_t tgid);
  Status give_up(UnwindObjectId id, Room of);

  // These are in table_store_code.cpp.
  [[nodiscard]] bool is_without_file(UnwindObjectId id) const;
  Status remove_code(UnwindObjectId id);

  Status remove_table(UnwindObjectId id);
  Status remove_object(UnwindObjectId id);
  Status limit_unused();
  void use(UnwindObjectId id);
  void stop_using(UnwindObjectId id);
  void touch(UnwindObjectId id);

  Status put(std::uint32_t tgid, std::uint64_t begin, const Mapping& mapping);
  Status erase(std::uint32_t tgid, std::uint64_t begin, const Mapping& mapping);

  UnwindMaps& maps_;
  TableStoreLimits limits_;
  ContentKeys keys_;
  RowSpace space_;
  RuleDictionary dictionary_;
  std::unordered_map<UnwindObjectId, Object> objects_;
  std::map<FileKey, UnwindObjectId> by_file_;
  std::unordered_map<std::uint64_t, UnwindObjectId> by_content_;
  std::list<UnwindObjectId> unused_;  // least recently used first
  std::unordered_map<std::uint32_t, Mappings> processes_;
  std::unordered_map<std::uint32_t, std::size_t> prefixes_of_;  // by tgid
  std::size_t prefixes_ = 0;                                    // of all processes
  UnwindObjectId last_id_ = OFFCPUD_UNWIND_NO_OBJECT;
  std::uint64_t freed_ = 0;  // number of complete tables removed so far
  std::size_t pages_ = 0;    // number in the kernel's map
  UserOf user_of_;
  std::function<void()> between_;
  std::chrono::nanoseconds between_cpu_{};
  std::unordered_map<std::uint32_t, ShareOwner> users_;  // known users, by tgid
  TableStoreStats counters_;
};

}  // namespace offcpud
