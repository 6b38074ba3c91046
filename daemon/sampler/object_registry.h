// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/cpu_shares.h"
#include "base/object_refusal.h"
#include "mappings/file_opener.h"
#include "mappings/mapping_observer.h"
#include "sampler/kernel_room.h"
#include "symbols/symbol_worker.h"
#include "unwind/table_store.h"

namespace offcpud {

// Hands every object that a process maps to those who need it: its unwind table to the kernel's
// maps, its file to the thread that reads symbols, each for the user who maps it first. Used by one
// thread; all that is passed must outlive it.
//
// Making tables takes time of this thread, on which everybody's stacks depend. So each user has a
// share of it; what he maps beyond is walked by frame pointers, until it is mapped anew.
class ObjectRegistry final : public MappingObserver {
 public:
  struct Reports {
    std::function<void(const Error& error)> failed;  // a map cannot be written
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

  // Puts in the mappings of processes whose turn has come (KernelRoom).
  using MappingsOf = std::function<std::span<const Mapping>(std::uint32_t tgid)>;
  void admit_waiting(const MappingsOf& mappings_of, MonotonicTime now);

  // Hands over once more what was asked for and is not kept, where a process still maps it, and
  // some of what was handed over before its process's root could be opened. To be called often.
  void offer_again(MonotonicTime now);

  // Tables that were not made, as their user's share of the time was spent.
  [[nodiscard]] std::uint64_t tables_out_of_time() const { return out_of_time_; }

  void object_found(const std::shared_ptr<const MappedObject>& object, const MappedFile& file,
                    UniqueFd fd) override;
  void copy_found(const MappedObject& object, UniqueFd fd) override;
  void object_forgotten(const MappedObject& object) override;
  void image_began(const ImageId& image, std::span<const Mapping> inherited) override;
  void mapping_added(const ImageId& image, const Mapping& mapping) override;
  void mapping_removed(const ImageId& image, const Mapping& mapping) override;
  void image_ended(const ImageId& image, std::span<const Mapping> mappings) override;

 private:
  struct Object {
    UnwindObjectId table = OFFCPUD_UNWIND_NO_OBJECT;
    ObjectId symbols = 0;
    bool table_due = false;        // it was not made for lack of time, or was given up since
    bool file_due = false;         // it was not kept open
    MonotonicTime retry_at{};      // before, its file is not opened again, as that has failed
    UniqueFd file;                 // until a process is known that maps it, ...
    std::vector<UniqueFd> copies;  // ... and these, too
    FileRequest request;           // what it is, and where it was mapped last; to open it again
    std::optional<std::uint32_t> user;  // MappedObject::user
  };
  [[nodiscard]] OpenedFile open_again(const Object& object);
  UniqueFd try_to_open_again(Object& object);
  Status map(std::uint32_t tgid, const Mapping& mapping, UnwindObjectId table);
  void add(std::uint32_t tgid, const Mapping& mapping);
  void take_over(Object& object, std::uint32_t tgid, const Mapping& mapping);
  // What was found since the last mapping of the object.
  void take_in(Object& object, std::uint64_t id);
  void take_in_copies(Object& object, const ShareOwner& owner);
  void offer(std::uint64_t id, Object& object, UniqueFd file);
  bool offer_with_root(std::uint64_t id, Object& object);
  void hand_over(std::uint64_t id, Object& object, UniqueFd file, UniqueFd directory,
                 SymbolWorker::Known known);
  void forget_symbols(std::uint64_t id, const Object& object);
  [[nodiscard]] ShareOwner user_of(std::uint32_t tgid);
  [[nodiscard]] bool has_time(const ShareOwner& owner) const;
  std::optional<UnwindObjectId> make_table(const Object& object, int fd, const ShareOwner& owner);
  // The object has its table, if it can be made, and the one it had if it cannot.
  void add_table(Object& object, int fd, const ShareOwner& owner);
  void note(const Status& status) const;

  TableStore* tables_;
  KernelRoom* room_;
  SymbolWorker& symbols_;
  FileOpener& opener_;
  FilesBelow* debug_files_;
  Reports reports_;
  CpuShares shares_;
  std::uint64_t out_of_time_ = 0;
  std::size_t open_ = 0;  // files and copies that are held
  UnwindObjectId vdso_ = OFFCPUD_UNWIND_NO_OBJECT;
  std::unordered_map<std::uint64_t, Object> objects_;  // by MappedObject::id
  // Of objects_: what several users map has the same functions.
  std::unordered_multimap<ObjectId, std::uint64_t> by_symbols_;
  std::deque<std::uint64_t> without_root_;  // of objects_, each once
  MonotonicTime next_with_root_ = MonotonicTime::min();
};

}  // namespace offcpud
