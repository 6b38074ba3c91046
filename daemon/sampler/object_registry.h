// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/cpu_shares.h"
#include "base/object_refusal.h"
#include "mappings/file_opener.h"
#include "mappings/mapping_observer.h"
#include "sampler/held_files.h"
#include "sampler/kernel_room.h"
#include "sampler/late_tables.h"
#include "sampler/object_turns.h"
#include "symbols/symbol_worker.h"
#include "unwind/table_store.h"

namespace offcpud {

// Passes each object that a process maps to those who need it: its unwind table to the kernel's
// maps, its file to the thread that reads symbols; each for the user who maps it first. Used by one
// thread; all arguments must outlive it.
//
// Each user has a share of this thread's time for making tables (CpuShares), because all stacks
// depend on the thread. Code of objects beyond a user's share is walked by frame pointers
// until the user has time again; then their tables are made, and the processes that map them get
// them (LateTables).
class ObjectRegistry final : public MappingObserver {
 public:
  struct Reports {
    // A map could not be written, or a file could not be read.
    std::function<void(const Error& error)> failed;
    // The unwind table of the object at this path was refused.
    std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
  };
  // `tables` null: stacks are not walked. `room` null: every process has room. The thread that
  // reads symbols opens debug files through `debug_files`; null: directly.
  ObjectRegistry(TableStore* tables, SymbolWorker& symbols, FileOpener& opener,
                 FilesBelow* debug_files, Reports reports, KernelRoom* room = nullptr,
                 const CpuShares::Limits& cpu = {});

  // 0: its symbols are unknown.
  [[nodiscard]] ObjectId symbols_of(const MappedObject& object) const;

  // Notes that a sampled process maps the object. So the file can still be opened, through this
  // process, when the process that mapped it last is gone.
  void seen_in(std::uint32_t tgid, const Mapping& mapping);

  // Adds the mappings of processes admitted by KernelRoom, and makes tables that were not made when
  // their objects were mapped, in a tenth of the thread's time. Call it often.
  using MappingsOf = std::function<std::span<const Mapping>(std::uint32_t tgid)>;
  void admit_waiting(const MappingsOf& mappings_of, MonotonicTime now);

  // Passes files on again: those that were asked for and not kept, if a process still maps them,
  // and some that were passed on before the root of their process could be opened. Call it often.
  void offer_again(MonotonicTime now);

  // Tables that were not made at once, because their user had no time left or because they could
  // not be written.
  [[nodiscard]] std::uint64_t late_tables() const { return late_tables_; }

  // The number of copies of objects without a table: their user had no time left, or they were
  // closed before a mapping of the object was reported. Each counts once.
  [[nodiscard]] std::uint64_t copies_left_out() const { return copies_left_out_; }

  // LateTables::pairs().
  [[nodiscard]] std::size_t late_pairs() const { return late_.pairs(); }

  void object_found(const std::shared_ptr<const MappedObject>& object, const MappedFile& file,
                    UniqueFd fd) override;
  void copy_found(const MappedObject& object, UniqueFd fd) override;
  void object_forgotten(const MappedObject& object) override;
  void image_began(const ImageId& image, std::span<const Mapping> inherited) override;
  void mapping_added(const ImageId& image, const Mapping& mapping) override;
  void mapping_removed(const ImageId& image, const Mapping& mapping) override;
  void image_ended(const ImageId& image, std::span<const Mapping> mappings) override;

 private:
  // Time between two attempts at a file or a table.
  static constexpr std::chrono::seconds kBetweenAttempts{1};
  // CPU time per round for each part of admit_waiting(); at least one step of each is done.
  static constexpr std::chrono::milliseconds kRound{10};
  // Mappings written in one step: 5 us each, 50 us with odd sizes.
  static constexpr std::size_t kAtOnce = 64;
  static constexpr std::chrono::milliseconds kTurn{1};  // CPU time of a step that writes entries
  static constexpr std::size_t kMostSeen = 4;           // processes with samples, of each object

  // Where a process maps an object.
  struct ObjectSeen {
    std::uint32_t tgid = 0;
    std::uint64_t begin = 0, end = 0;
  };

  struct Object {
    UnwindObjectId table = OFFCPUD_UNWIND_NO_OBJECT;
    ObjectId symbols = 0;
    bool table_due = false;    // it was not made in time, or was dropped since
    bool file_due = false;     // a file was found but not passed on yet
    MonotonicTime retry_at{};  // after a failure, its file is not opened before this time
    FileRequest request;       // identifies the file and where it was mapped last, to open it again
    std::optional<std::uint32_t> user;  // MappedObject::user
    std::vector<ObjectSeen> seen;       // kMostSeen at most; one goes when it cannot open the file
  };
  class EntryCpu;
  [[nodiscard]] OpenedFile open_again(const Object& object);
  UniqueFd try_to_open_again(Object& object);
  // Like open_again(), but also through processes where the object was seen.
  OpenedFile open_where_seen(Object& object);
  // The mappings that begin at or above an address; `mappings` must be in order.
  static std::span<const Mapping> mappings_from(std::span<const Mapping> mappings,
                                                std::uint64_t begin);
  [[nodiscard]] bool is_put_later(std::uint32_t tgid, const Mapping& mapping);
  static std::size_t entries_of(std::span<const Mapping> mappings);
  void take_turns(const MappingsOf& mappings_of, MonotonicTime now);
  void put_some(KernelRoom::Entering& entering, std::span<const Mapping> mappings);
  Status map(std::uint32_t tgid, const Mapping& mapping, UnwindObjectId table);
  void add(std::uint32_t tgid, const Mapping& mapping);
  void take_over(Object& object, std::uint32_t tgid, const Mapping& mapping);
  // Handles files and copies that were found since the last mapping of the object.
  void take_in(Object& object, std::uint64_t id);
  void take_in_copies(Object& object, std::uint64_t id, std::uint32_t tgid);
  void offer(std::uint64_t id, Object& object, UniqueFd file);
  void offer_with_roots();
  OpenedFile::Outcome offer_with_root(std::uint64_t id, Object& object);
  void hand_over(std::uint64_t id, Object& object, UniqueFd file, UniqueFd directory,
                 SymbolWorker::Known known);
  void forget_symbols(std::uint64_t id, const Object& object);
  // The user of the process; if that is gone, the user of the object. The time for the object
  // counts against this user.
  [[nodiscard]] ShareOwner user_of(std::uint32_t tgid, const Object& object);
  void note(const Status& status) const;

  // object_registry_tables.cpp.
  [[nodiscard]] bool has_time(const ShareOwner& owner) const;
  std::optional<UnwindObjectId> make_table(Object& object, int fd, const ShareOwner& owner);
  // Gives the object a new table if one can be made; otherwise it keeps the old one.
  void add_table(std::uint64_t id, Object& object, int fd, const ShareOwner& owner);
  void have_made_later(std::uint64_t id, Object& object, const ShareOwner& owner);
  void add_again(std::uint64_t id, Object& object, std::uint32_t tgid);
  void make_late_tables(const MappingsOf& mappings_of);
  OpenedFile::Outcome make_late_table(const ObjectTurns::Turn& turn, const MappingsOf& mappings_of);
  OpenedFile open_from_any(std::uint64_t id, Object& object, const MappingsOf& mappings_of);
  void tell_late_tables(const MappingsOf& mappings_of);
  // False: some of `mappings` are still to be told of.
  bool tell_some(LateTables::Telling& telling, std::span<const Mapping> mappings);
  // Whether the kernel's map does not name the table of the mapped object.
  [[nodiscard]] bool lacks_table(std::uint32_t tgid, const Mapping& mapping) const;

  TableStore* tables_;
  KernelRoom* room_;
  SymbolWorker& symbols_;
  FileOpener& opener_;
  FilesBelow* debug_files_;
  Reports reports_;
  CpuShares shares_;
  std::chrono::nanoseconds tables_cpu_{};  // total CPU time of make_table()
  std::uint64_t late_tables_ = 0;
  std::uint64_t copies_left_out_ = 0;
  UnwindObjectId vdso_ = OFFCPUD_UNWIND_NO_OBJECT;
  std::unordered_map<std::uint64_t, Object> objects_;  // by MappedObject::id
  HeldFiles held_;                                     // files of objects_
  LateTables late_;
  MonotonicTime next_late_ = MonotonicTime::min();
  // Objects of several users may have the same symbols.
  std::unordered_multimap<ObjectId, std::uint64_t> by_symbols_;
  ObjectTurns without_root_;
  MonotonicTime next_with_root_ = MonotonicTime::min();
};

}  // namespace offcpud
