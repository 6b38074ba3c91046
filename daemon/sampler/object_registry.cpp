// SPDX-License-Identifier: Apache-2.0
#include "sampler/object_registry.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "elf/vdso.h"
#include "unwind/address_prefixes.h"

namespace offcpud {
namespace {

constexpr std::chrono::seconds kBetweenRoots{1};
constexpr std::size_t kRootsAtOnce = 16;
constexpr std::chrono::milliseconds kBetweenRounds{100};  // of attempts at late tables

// After an error it is not tried again: the object has only the names that it contains.
bool root_may_come_later(OpenedFile::Outcome outcome) {
  return outcome == OpenedFile::Outcome::Refused || outcome == OpenedFile::Outcome::Slow;
}

}  // namespace

// CPU time of this thread while it exists counts for entries, but that of tables does not.
class ObjectRegistry::EntryCpu {
 public:
  EntryCpu(const ObjectRegistry& registry, KernelRoom::When when)
      : registry_(registry), when_(when), begin_(now()) {}
  ~EntryCpu() {
    if (registry_.room_ != nullptr) registry_.room_->spend(when_, now() - begin_);
  }
  EntryCpu(const EntryCpu&) = delete;
  EntryCpu& operator=(const EntryCpu&) = delete;

 private:
  [[nodiscard]] std::chrono::nanoseconds now() const {
    return thread_cpu_time() - registry_.tables_cpu_;
  }
  const ObjectRegistry& registry_;
  KernelRoom::When when_;
  std::chrono::nanoseconds begin_;
};

ObjectRegistry::ObjectRegistry(TableStore* tables, SymbolWorker& symbols, FileOpener& opener,
                               FilesBelow* debug_files, Reports reports, KernelRoom* room,
                               const CpuShares::Limits& cpu)
    : tables_(tables),
      room_(room),
      symbols_(symbols),
      opener_(opener),
      debug_files_(debug_files),
      reports_(std::move(reports)),
      shares_(cpu) {
  if (tables_ == nullptr) return;
  const auto vdso = vdso_file();
  if (!vdso) return;  // this kernel maps none
  if (const auto table = tables_->add_object(vdso->get())) {
    vdso_ = *table;
  } else {
    reports_.failed(table.error());
  }
}

ObjectId ObjectRegistry::symbols_of(const MappedObject& object) const {
  const auto found = objects_.find(object.id);
  return found == objects_.end() ? 0 : found->second.symbols;
}

void ObjectRegistry::object_found(const std::shared_ptr<const MappedObject>& object,
                                  const MappedFile& file, UniqueFd fd) {
  Object& known = objects_[object->id];
  known.request.path = file.path;
  known.request.deleted = file.deleted;
  known.request.build_id = object->build_id;
  known.request.inode = object->inode;
  known.user = object->user;
  if (!fd) return;
  known.file_due = true;
  held_.hold(object->id, std::move(fd));
}

// Unknown processes are walked by the files that they map, so each copy needs a table. The table is
// only for that file, whose contents may differ from the object's.
void ObjectRegistry::copy_found(const MappedObject& object, UniqueFd fd) {
  if (tables_ == nullptr) return;
  Object& known = objects_[object.id];
  if (held_.has_room()) return held_.hold_copy(object.id, std::move(fd));
  if (!make_table(known, fd.get(), known.user)) ++copies_left_out_;
}

ShareOwner ObjectRegistry::user_of(std::uint32_t tgid, const Object& object) {
  const ShareOwner user = room_ == nullptr ? std::nullopt : room_->user_of(tgid);
  return user ? user : object.user;
}

void ObjectRegistry::take_in(Object& object, std::uint64_t id) {
  const bool is_new = object.file_due;
  const bool wants_table =
      tables_ != nullptr && (object.table_due || tables_->is_to_add_again(object.table));
  if (!is_new && !wants_table) return;
  const ShareOwner owner = user_of(object.request.tgid, object);
  UniqueFd file = held_.take(id);
  if (!file && (is_new || has_time(owner))) file = try_to_open_again(object);
  if (!file) {
    if (is_new && tables_ != nullptr) have_made_later(id, object, owner);
    return;
  }
  object.file_due = false;
  if (tables_ != nullptr) add_table(id, object, file.get(), owner);
  if (is_new) offer(id, object, std::move(file));
}

void ObjectRegistry::take_in_copies(Object& object, std::uint64_t id, std::uint32_t tgid) {
  for (const UniqueFd& copy : held_.take_copies(id)) {
    if (!make_table(object, copy.get(), user_of(tgid, object))) ++copies_left_out_;
  }
}

// Debug files are searched below the root of a process that maps the object. If the root cannot be
// opened now, the object has only the names that it contains until it can.
void ObjectRegistry::offer(std::uint64_t id, Object& object, UniqueFd file) {
  OpenedFile root = opener_.open_root(object.request.tgid);
  if (root_may_come_later(root.outcome)) {
    without_root_.push(id, user_of(object.request.tgid, object));
  }
  hand_over(id, object, std::move(file), std::move(root.fd), SymbolWorker::Known::AsItIs);
}

// Each copy in memory is another file, and so has another number.
void ObjectRegistry::hand_over(std::uint64_t id, Object& object, UniqueFd file, UniqueFd directory,
                               SymbolWorker::Known known) {
  std::optional<RootDirectory> root;
  if (directory) root.emplace(std::move(directory), object.request.tgid, debug_files_);
  forget_symbols(id, object);
  object.symbols = symbols_
                       .offer({std::move(file), object.request.path, std::move(root)},
                              user_of(object.request.tgid, object), known)
                       .value_or(0);
  if (object.symbols != 0) by_symbols_.emplace(object.symbols, id);
}

void ObjectRegistry::forget_symbols(std::uint64_t id, const Object& object) {
  const auto [first, last] = by_symbols_.equal_range(object.symbols);
  const auto known =
      std::find_if(first, last, [id](const auto& entry) { return entry.second == id; });
  if (known != last) by_symbols_.erase(known);
}

void ObjectRegistry::object_forgotten(const MappedObject& object) {
  const auto found = objects_.find(object.id);
  if (found == objects_.end()) return;
  forget_symbols(object.id, found->second);
  copies_left_out_ += held_.forget(object.id);
  late_.forget(object.id);
  without_root_.erase(object.id);
  objects_.erase(found);
}

void ObjectRegistry::image_began(const ImageId& image, std::span<const Mapping> inherited) {
  const EntryCpu cpu(*this, KernelRoom::When::AtOnce);
  if (room_ != nullptr && !room_->began(image.tgid, entries_of(inherited))) return;
  for (const Mapping& mapping : inherited) add(image.tgid, mapping);
}

void ObjectRegistry::mapping_added(const ImageId& image, const Mapping& mapping) {
  const EntryCpu cpu(*this, KernelRoom::When::AtOnce);
  if (!is_put_later(image.tgid, mapping)) add(image.tgid, mapping);
}

bool ObjectRegistry::is_put_later(std::uint32_t tgid, const Mapping& mapping) {
  if (room_ == nullptr || !room_->admits(tgid)) return false;
  if (!room_->puts_now(tgid, mapping.begin)) return true;
  if (room_->has_time_for(tgid, entries_of({&mapping, 1}))) return false;
  room_->put_later(tgid, mapping.begin);
  return true;
}

// If there is no time for it, all of the process's entries go: with old ones its stacks would be
// wrong.
void ObjectRegistry::mapping_removed(const ImageId& image, const Mapping& mapping) {
  const std::uint32_t tgid = image.tgid;
  if (mapping.file->object) late_.unmapped(tgid, mapping.file->object->id, mapping.begin);
  if (tables_ == nullptr || !tables_->place(tgid, mapping.begin)) return;
  const EntryCpu cpu(*this, KernelRoom::When::AtOnce);
  if (room_ == nullptr || room_->has_time_for(tgid, entries_of({&mapping, 1}))) {
    return note(tables_->remove_mappings(tgid, mapping.begin, mapping.end));
  }
  room_->put_anew(tgid);
  late_.ended(tgid);
}

void ObjectRegistry::image_ended(const ImageId& image, std::span<const Mapping> /*mappings*/) {
  late_.ended(image.tgid);
  if (tables_ == nullptr) return;
  const EntryCpu cpu(*this, KernelRoom::When::AtOnce);
  note(room_ != nullptr ? room_->ended(image.tgid) : tables_->remove_process(image.tgid));
}

std::size_t ObjectRegistry::entries_of(std::span<const Mapping> mappings) {
  std::size_t entries = 0;
  for (const Mapping& mapping : mappings) {
    entries += count_address_prefixes(mapping.begin, mapping.end);
  }
  return entries;
}

void ObjectRegistry::admit_waiting(const MappingsOf& mappings_of, MonotonicTime now) {
  if (tables_ == nullptr) return;
  if (room_ != nullptr) take_turns(mappings_of, now);
  if (now < next_late_) return;
  next_late_ = now + kBetweenRounds;
  make_late_tables(mappings_of);
  tell_late_tables(mappings_of);
}

void ObjectRegistry::take_turns(const MappingsOf& mappings_of, MonotonicTime now) {
  const auto until = thread_cpu_time() + kRound;
  while (room_->has_time(now) && thread_cpu_time() < until) {
    const EntryCpu cpu(*this, KernelRoom::When::InTurn);
    const auto removed = room_->remove_some();
    if (!removed) reports_.failed(removed.error());
    auto entering = room_->next_waiting();
    if (entering) put_some(*entering, mappings_of(entering->tgid));
    if (!entering && removed && !*removed) return;
  }
}

// Some mappings at a time, of CPU time and not only a number: a process with thousands would keep
// everybody's stacks waiting, and one of odd sizes would have more of the turns than others.
void ObjectRegistry::put_some(KernelRoom::Entering& entering, std::span<const Mapping> mappings) {
  const auto until = thread_cpu_time() + kTurn;
  const auto rest = mappings_from(mappings, entering.from);
  for (std::size_t done = 0; done < rest.size(); ++done) {
    if (done == kAtOnce || (done > 0 && thread_cpu_time() >= until)) {
      entering.from = rest[done].begin;
      entering.left = rest.size() - done;
      return room_->put_rest(entering);
    }
    add(entering.tgid, rest[done]);
    if (!room_->admits(entering.tgid)) return;  // it was taken out
  }
}

void ObjectRegistry::add(std::uint32_t tgid, const Mapping& mapping) {
  UnwindObjectId table = OFFCPUD_UNWIND_NO_OBJECT;
  Object* object = nullptr;
  const std::uint64_t id = mapping.file->object ? mapping.file->object->id : 0;
  if (mapping.file->object) {
    object = &objects_[id];
    if (!mapping.file->borrowed) take_over(*object, tgid, mapping);
    take_in_copies(*object, id, tgid);
    table = object->table;
  } else if (mapping.file->kind == MappedFile::Kind::Vdso) {
    table = vdso_;
  }
  if (tables_ == nullptr || (room_ != nullptr && !room_->admits(tgid))) return;
  // When an evicted process is admitted again, its mappings are added with all tables.
  const auto taken_out = [this](std::uint32_t gone) { late_.ended(gone); };
  if (room_ != nullptr && !room_->make_room(tgid, taken_out)) return;
  Status status = map(tgid, mapping, table);
  if (!status && object != nullptr && table != OFFCPUD_UNWIND_NO_OBJECT) {
    add_again(id, *object, tgid);
    status = map(tgid, mapping, object->table);
  }
  if (status && object != nullptr && object->table_due) {
    late_.mapped_without(tgid, id, mapping.begin, user_of(tgid, *object));
  } else if (object != nullptr) {
    late_.unmapped(tgid, id, mapping.begin);
  }
  note(status);
}

// The file is opened again through the process that maps it last.
void ObjectRegistry::take_over(Object& object, std::uint32_t tgid, const Mapping& mapping) {
  object.request.tgid = tgid;
  object.request.begin = mapping.begin;
  object.request.end = mapping.end;
  take_in(object, mapping.file->object->id);
}

Status ObjectRegistry::map(std::uint32_t tgid, const Mapping& mapping, UnwindObjectId table) {
  const bool in_file = mapping.file->kind == MappedFile::Kind::File;
  return tables_->add_mapping(tgid, mapping.begin, mapping.end, in_file ? mapping.offset : 0,
                              table);
}

// Opens it as at first: nothing that could hang, and no other file in its place. Fails if the
// process is gone and nobody else has the file, or if it now belongs to another user.
OpenedFile ObjectRegistry::open_again(const Object& object) {
  OpenedFile opened = opener_.open(object.request);
  const bool is_anothers = object.user && opened.mapped_by != object.user;
  if (opened.fd && is_anothers) return not_opened(OpenedFile::Outcome::Gone);
  return opened;
}

// Not for each of many mappings, because an attempt involves another process.
UniqueFd ObjectRegistry::try_to_open_again(Object& object) {
  const auto now = std::chrono::steady_clock::now();
  if (now < object.retry_at) return {};
  UniqueFd file = open_again(object).fd;
  if (!file) object.retry_at = now + kBetweenAttempts;
  return file;
}

// The first ones stay, so that short-lived processes of a program do not push out a lasting one.
void ObjectRegistry::seen_in(std::uint32_t tgid, const Mapping& mapping) {
  if (!mapping.file->object || mapping.file->borrowed) return;
  const auto found = objects_.find(mapping.file->object->id);
  if (found == objects_.end()) return;
  auto& seen = found->second.seen;
  if (seen.size() >= kMostSeen) return;
  if (std::ranges::find(seen, tgid, &ObjectSeen::tgid) != seen.end()) return;
  seen.push_back({.tgid = tgid, .begin = mapping.begin, .end = mapping.end});
}

// The last one that mapped it may be gone while others have the file. Processes where it fails make
// room for others. It stops when a file system was slow, because the others may be on it, too.
OpenedFile ObjectRegistry::open_where_seen(Object& object) {
  OpenedFile opened = open_again(object);
  while (!opened.fd && opened.outcome != OpenedFile::Outcome::Slow && !object.seen.empty()) {
    const ObjectSeen seen = object.seen.back();
    object.request.tgid = seen.tgid;
    object.request.begin = seen.begin;
    object.request.end = seen.end;
    opened = open_again(object);
    if (!opened.fd) object.seen.pop_back();
  }
  return opened;
}

void ObjectRegistry::offer_again(MonotonicTime now) {
  for (const ObjectId wanted : symbols_.take_wanted()) {
    const auto [first, last] = by_symbols_.equal_range(wanted);
    for (auto known = first; known != last; ++known) {
      const std::uint64_t id = known->second;
      const auto object = objects_.find(id);
      if (object == objects_.end()) continue;
      OpenedFile opened = open_where_seen(object->second);
      if (!opened.fd) continue;
      offer(id, object->second, std::move(opened.fd));
      break;
    }
  }
  if (now < next_with_root_) return;
  next_with_root_ = now + kBetweenRoots;
  copies_left_out_ += held_.close_old(now);
  offer_with_roots();
}

// Objects to be retried are queued again after the round, so each is tried once in it. A user for
// whom a file system was slow is left out of the rest of the round, whoever owns it, so that
// others come first.
void ObjectRegistry::offer_with_roots() {
  std::vector<ObjectTurns::Turn> wait_on;
  std::vector<ShareOwner> slow;
  const auto may = [&](const ShareOwner& user) {
    return std::ranges::find(slow, user) == slow.end();
  };
  for (std::size_t left = kRootsAtOnce; left > 0; --left) {
    const auto turn = without_root_.pop(may);
    if (!turn) break;
    const auto outcome = offer_with_root(turn->object, objects_.at(turn->object));
    if (outcome == OpenedFile::Outcome::Slow) slow.push_back(turn->user);
    if (root_may_come_later(outcome)) wait_on.push_back(*turn);
  }
  for (const ObjectTurns::Turn& turn : wait_on) without_root_.push(turn.object, turn.user);
}

OpenedFile::Outcome ObjectRegistry::offer_with_root(std::uint64_t id, Object& object) {
  OpenedFile root = opener_.open_root(object.request.tgid);
  if (!root.fd) return root.outcome;
  OpenedFile file = open_again(object);
  if (!file.fd) return file.outcome;
  hand_over(id, object, std::move(file.fd), std::move(root.fd), SymbolWorker::Known::ReadAgain);
  return OpenedFile::Outcome::Opened;
}

void ObjectRegistry::note(const Status& status) const {
  if (!status) reports_.failed(status.error());
}

}  // namespace offcpud
