// SPDX-License-Identifier: Apache-2.0
#include "sampler/object_registry.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "unwind/vdso.h"

namespace offcpud {
namespace {

constexpr std::chrono::seconds kBetweenRoots{1};
constexpr std::size_t kRootsAtOnce = 16;
constexpr std::chrono::seconds kBetweenAttempts{1};

bool may_come_later(OpenedFile::Outcome outcome) {
  return outcome == OpenedFile::Outcome::Refused || outcome == OpenedFile::Outcome::Slow;
}

// Held until the mappings are told of, for which a process is found: a process may map thousands
// of files, and the daemon has 8,192 descriptors. The others are opened again.
constexpr std::size_t kMostOpen = 1024;

}  // namespace

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
  if (!vdso) return;  // the kernel maps none
  if (const auto table = tables_->add_object(vdso->get())) vdso_ = *table;
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
  if (known.file) --open_;
  known.file_due = open_ >= kMostOpen;
  if (known.file_due) return;
  known.file = std::move(fd);
  ++open_;
}

// Processes that the daemon does not know yet are walked by the files that they map. The table is
// of that file alone: what is in it may be something else than in the object.
void ObjectRegistry::copy_found(const MappedObject& object, UniqueFd fd) {
  if (tables_ == nullptr) return;
  Object& known = objects_[object.id];
  if (open_ >= kMostOpen) return (void)make_table(known, fd.get(), std::nullopt);
  known.copies.push_back(std::move(fd));
  ++open_;
}

ShareOwner ObjectRegistry::user_of(std::uint32_t tgid) {
  return room_ == nullptr ? std::nullopt : room_->user_of(tgid);
}

void ObjectRegistry::take_in(Object& object, std::uint64_t id) {
  const bool is_new = object.file || object.file_due;
  const bool wants_table =
      tables_ != nullptr && (object.table_due || tables_->is_to_add_again(object.table));
  if (!is_new && !wants_table) return;
  const ShareOwner owner = user_of(object.request.tgid);
  if (object.file) --open_;
  UniqueFd file = std::move(object.file);
  if (!file && (object.file_due || (wants_table && has_time(owner)))) {
    file = try_to_open_again(object);
  }
  if (!file) return;
  object.file_due = false;
  if (tables_ != nullptr) add_table(object, file.get(), owner);
  if (is_new) offer(id, object, std::move(file));
}

void ObjectRegistry::take_in_copies(Object& object, const ShareOwner& owner) {
  for (const UniqueFd& copy : std::exchange(object.copies, {})) {
    --open_;
    (void)make_table(object, copy.get(), owner);
  }
}

bool ObjectRegistry::has_time(const ShareOwner& owner) const {
  return shares_.left(owner, std::chrono::steady_clock::now()) > std::chrono::nanoseconds(0);
}

// Nothing: its owner has no time left for it. What is no ELF file for this machine has no table,
// and its mappings are known all the same.
std::optional<UnwindObjectId> ObjectRegistry::make_table(const Object& object, int fd,
                                                         const ShareOwner& owner) {
  if (!has_time(owner)) {
    ++out_of_time_;
    return std::nullopt;
  }
  const std::uint64_t refused = tables_->refused();
  const auto before = thread_cpu_time();
  std::optional<FileVersion> version;
  if (const auto original = opener_.original_of(fd)) version = original->version;
  const auto table = tables_->add_object(fd, owner, version);
  shares_.charge(owner, thread_cpu_time() - before, std::chrono::steady_clock::now());
  if (tables_->refused() != refused && reports_.refused) {
    ObjectRefusals causes;
    causes.add(ObjectRefusal::UnwindTable);
    reports_.refused(object.request.path, causes);
  }
  return table ? *table : OFFCPUD_UNWIND_NO_OBJECT;
}

void ObjectRegistry::add_table(Object& object, int fd, const ShareOwner& owner) {
  const auto table = make_table(object, fd, owner);
  object.table_due = !table;
  if (table && *table != OFFCPUD_UNWIND_NO_OBJECT) object.table = *table;
}

// Debug files are looked for below the root of the process that maps the object, as long as that
// exists. Where the root cannot be had now, the object has the names that are in it until it can.
void ObjectRegistry::offer(std::uint64_t id, Object& object, UniqueFd file) {
  OpenedFile root = opener_.open_root(object.request.tgid);
  if (may_come_later(root.outcome)) without_root_.push_back(id);
  hand_over(id, object, std::move(file), std::move(root.fd), SymbolWorker::Known::AsItIs);
}

// A copy is another file each time it is made, and so has another number.
void ObjectRegistry::hand_over(std::uint64_t id, Object& object, UniqueFd file, UniqueFd directory,
                               SymbolWorker::Known known) {
  std::optional<RootDirectory> root;
  if (directory) root.emplace(std::move(directory), object.request.tgid, debug_files_);
  forget_symbols(id, object);
  object.symbols = symbols_
                       .offer({std::move(file), object.request.path, std::move(root)},
                              user_of(object.request.tgid), known)
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
  open_ -= found->second.copies.size() + (found->second.file ? 1 : 0);
  objects_.erase(found);
}

void ObjectRegistry::image_began(const ImageId& image, std::span<const Mapping> inherited) {
  if (room_ != nullptr && !room_->began(image.tgid, inherited.size())) return;
  for (const Mapping& mapping : inherited) add(image.tgid, mapping);
}

void ObjectRegistry::mapping_added(const ImageId& image, const Mapping& mapping) {
  add(image.tgid, mapping);
}

void ObjectRegistry::mapping_removed(const ImageId& image, const Mapping& mapping) {
  if (tables_ != nullptr) note(tables_->remove_mappings(image.tgid, mapping.begin, mapping.end));
}

void ObjectRegistry::image_ended(const ImageId& image, std::span<const Mapping> /*mappings*/) {
  if (tables_ != nullptr) note(tables_->remove_process(image.tgid));
  if (room_ != nullptr) room_->ended(image.tgid);
}

void ObjectRegistry::admit_waiting(const MappingsOf& mappings_of, MonotonicTime now) {
  if (room_ == nullptr) return;
  while (const auto tgid = room_->next_waiting(now)) {
    const auto mappings = mappings_of(*tgid);
    for (const Mapping& mapping : mappings) add(*tgid, mapping);
    room_->spend(mappings.size());
  }
}

void ObjectRegistry::add(std::uint32_t tgid, const Mapping& mapping) {
  UnwindObjectId table = OFFCPUD_UNWIND_NO_OBJECT;
  Object* object = nullptr;
  if (mapping.file->object) {
    object = &objects_[mapping.file->object->id];
    if (!mapping.file->borrowed) take_over(*object, tgid, mapping);
    if (!object->copies.empty()) take_in_copies(*object, user_of(tgid));
    table = object->table;
  } else if (mapping.file->kind == MappedFile::Kind::Vdso) {
    table = vdso_;
  }
  if (tables_ == nullptr || (room_ != nullptr && !room_->admits(tgid))) return;
  if (room_ != nullptr && !room_->make_room(tgid)) return;
  Status status = map(tgid, mapping, table);
  if (!status && object != nullptr && table != OFFCPUD_UNWIND_NO_OBJECT) {
    // The table was given up for others while nobody used it.
    object->table = OFFCPUD_UNWIND_NO_OBJECT;
    object->table_due = true;
    if (const OpenedFile opened = open_again(*object); opened.fd) {
      add_table(*object, opened.fd.get(), user_of(tgid));
    }
    status = map(tgid, mapping, object->table);
  }
  note(status);
}

// Whoever maps it is who to ask for its file again.
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

// As it was opened the first time: nothing that could hang, and no other file in its place. Nothing
// if the process is gone and nobody else has the file, or has become another user's.
OpenedFile ObjectRegistry::open_again(const Object& object) {
  OpenedFile opened = opener_.open(object.request);
  const bool is_anothers = object.user && opened.mapped_by != object.user;
  if (opened.fd && is_anothers) return not_opened(OpenedFile::Outcome::Gone);
  return opened;
}

// Not at each of many mappings: somebody else is asked for it.
UniqueFd ObjectRegistry::try_to_open_again(Object& object) {
  const auto now = std::chrono::steady_clock::now();
  if (now < object.retry_at) return {};
  UniqueFd file = open_again(object).fd;
  if (!file) object.retry_at = now + kBetweenAttempts;
  return file;
}

void ObjectRegistry::offer_again(MonotonicTime now) {
  for (const ObjectId wanted : symbols_.take_wanted()) {
    const auto [first, last] = by_symbols_.equal_range(wanted);
    for (auto known = first; known != last; ++known) {
      const std::uint64_t id = known->second;
      const auto object = objects_.find(id);
      if (object == objects_.end()) continue;
      OpenedFile opened = open_again(object->second);
      if (!opened.fd) continue;
      offer(id, object->second, std::move(opened.fd));
      break;
    }
  }
  if (now < next_with_root_) return;
  next_with_root_ = now + kBetweenRoots;
  for (std::size_t left = std::min(without_root_.size(), kRootsAtOnce); left > 0; --left) {
    const std::uint64_t id = without_root_.front();
    without_root_.pop_front();
    const auto object = objects_.find(id);
    if (object == objects_.end() || offer_with_root(id, object->second)) continue;
    without_root_.push_back(id);
    return;  // the others would be refused, too
  }
}

// False: it has to be tried again.
bool ObjectRegistry::offer_with_root(std::uint64_t id, Object& object) {
  OpenedFile root = opener_.open_root(object.request.tgid);
  if (!root.fd) return !may_come_later(root.outcome);
  OpenedFile file = open_again(object);
  if (!file.fd) return !may_come_later(file.outcome);
  hand_over(id, object, std::move(file.fd), std::move(root.fd), SymbolWorker::Known::ReadAgain);
  return true;
}

void ObjectRegistry::note(const Status& status) const {
  if (!status) reports_.failed(status.error());
}

}  // namespace offcpud
