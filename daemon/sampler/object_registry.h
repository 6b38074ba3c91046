// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

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

// Hands every object that a process maps to those who need it: its unwind table to the kernel's
// maps, its file to the thread that reads symbols, each for the user who maps it first. Used by one
// thread; all that is passed must outlive it.
//
// Making tables takes time of this thread, on which everybody's stacks depend. So each user has a
// share of it (CpuShares). What he maps beyond is walked by frame pointers until he has time again:
// then its table is made, and the processes that map it have it (LateTables).
class ObjectRegistry final : public MappingObserver {
 public:
  struct Reports {
    // A map cannot be written, or a file not be read.
    std::function<void(const Error& error)> failed;
    // The unwind table of the object at this path was refused.
    std::function<void(const std::string& path, const ObjectRefusals& causes)> refused;
  };
  // `tables` is null where stacks are not walked, and `room` where there is enough for everybody.
  // `debug_files` is what the thread that reads symbols opens debug files by; null: it does so
  // itself.
  ObjectRegistry(TableStore* tables, SymbolWorker& symbols, FileOpener& opener,
                 FilesBelow* debug_files, Reports reports, KernelRoom* room = nullptr,
                 const CpuShares::Limits& cpu = {});

  // 0: nothing is known of its symbols.
  [[nodiscard]] ObjectId symbols_of(const MappedObject& object) const;

  // Puts in the mappings of processes whose turn has come (KernelRoom), and makes tables that were
  // not made when their objects were mapped, in a tenth of the thread's time. To be called often.
  using MappingsOf = std::function<std::span<const Mapping>(std::uint32_t tgid)>;
  void admit_waiting(const MappingsOf& mappings_of, MonotonicTime now);

  // Hands over once more what was asked for and is not kept, where a process still maps it, and
  // some of what was handed over before its process's root could be opened. To be called often.
  void offer_again(MonotonicTime now);

  // Tables that were not made at once: their user's share of the time was spent, or they could not
  // be written.
  [[nodiscard]] std::uint64_t late_tables() const { return late_tables_; }

  // Copies of objects that processes are not walked by, each once: their user's share of the time
  // was spent, or nobody's mapping of the object was told of before they were closed.
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
  // Between two attempts at a file or a table.
  static constexpr std::chrono::seconds kBetweenAttempts{1};
  // Of the thread, for each of what admit_waiting() does; one step of each is more than none.
  static constexpr std::chrono::milliseconds kRound{10};
  // Mappings that are written in one step: 5 us each, or 50 where they have odd sizes.
  static constexpr std::size_t kAtOnce = 64;

  struct Object {
    UnwindObjectId table = OFFCPUD_UNWIND_NO_OBJECT;
    ObjectId symbols = 0;
    bool table_due = false;    // it was not made in time, or was given up since
    bool file_due = false;     // a file was found, and not handed over yet
    MonotonicTime retry_at{};  // before, its file is not opened again, as something has failed
    FileRequest request;       // what it is, and where it was mapped last; to open it again
    std::optional<std::uint32_t> user;  // MappedObject::user
  };
  [[nodiscard]] OpenedFile open_again(const Object& object);
  UniqueFd try_to_open_again(Object& object);
  // Of mappings in order, those that begin there and above.
  static std::span<const Mapping> mappings_from(std::span<const Mapping> mappings,
                                                std::uint64_t begin);
  void put_in_waiting(const MappingsOf& mappings_of, MonotonicTime now);
  Status map(std::uint32_t tgid, const Mapping& mapping, UnwindObjectId table);
  void add(std::uint32_t tgid, const Mapping& mapping);
  void take_over(Object& object, std::uint32_t tgid, const Mapping& mapping);
  // What was found since the last mapping of the object.
  void take_in(Object& object, std::uint64_t id);
  void take_in_copies(Object& object, std::uint64_t id, std::uint32_t tgid);
  void offer(std::uint64_t id, Object& object, UniqueFd file);
  void offer_with_roots();
  OpenedFile::Outcome offer_with_root(std::uint64_t id, Object& object);
  void hand_over(std::uint64_t id, Object& object, UniqueFd file, UniqueFd directory,
                 SymbolWorker::Known known);
  void forget_symbols(std::uint64_t id, const Object& object);
  // For whom something is done that a process maps; where that is gone, whose the object is.
  [[nodiscard]] ShareOwner user_of(std::uint32_t tgid, const Object& object);
  void note(const Status& status) const;

  // object_registry_tables.cpp.
  [[nodiscard]] bool has_time(const ShareOwner& owner) const;
  std::optional<UnwindObjectId> make_table(Object& object, int fd, const ShareOwner& owner);
  // The object has its table, if it can be made, and the one it had if it cannot.
  void add_table(std::uint64_t id, Object& object, int fd, const ShareOwner& owner);
  void have_made_later(std::uint64_t id, Object& object, const ShareOwner& owner);
  void add_again(std::uint64_t id, Object& object, std::uint32_t tgid);
  void make_late_tables(const MappingsOf& mappings_of);
  OpenedFile::Outcome make_late_table(const ObjectTurns::Turn& turn, const MappingsOf& mappings_of);
  OpenedFile open_from_any(std::uint64_t id, Object& object, const MappingsOf& mappings_of);
  void tell_late_tables(const MappingsOf& mappings_of);
  // Nothing is left to tell of these.
  bool tell_some(LateTables::Telling& telling, std::span<const Mapping> mappings);
  // The kernel's map does not name the table of the object that is mapped.
  [[nodiscard]] bool lacks_table(std::uint32_t tgid, const Mapping& mapping) const;

  TableStore* tables_;
  KernelRoom* room_;
  SymbolWorker& symbols_;
  FileOpener& opener_;
  FilesBelow* debug_files_;
  Reports reports_;
  CpuShares shares_;
  std::chrono::nanoseconds tables_cpu_{};  // that make_table() has taken
  std::uint64_t late_tables_ = 0;
  std::uint64_t copies_left_out_ = 0;
  UnwindObjectId vdso_ = OFFCPUD_UNWIND_NO_OBJECT;
  std::unordered_map<std::uint64_t, Object> objects_;  // by MappedObject::id
  HeldFiles held_;                                     // of objects_, as all that follows
  LateTables late_;
  MonotonicTime next_late_ = MonotonicTime::min();
  // What several users map has the same functions.
  std::unordered_multimap<ObjectId, std::uint64_t> by_symbols_;
  ObjectTurns without_root_;
  MonotonicTime next_with_root_ = MonotonicTime::min();
};

}  // namespace offcpud
