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

bool may_come_later(OpenedFile::Outcome outcome) {
  return outcome == OpenedFile::Outcome::Refused || outcome == OpenedFile::Outcome::Slow;
}

}  // namespace

ObjectRegistry::ObjectRegistry(TableStore* tables, SymbolWorker& symbols, FileOpener& opener,
                               FilesBelow* debug_files, Reports reports, KernelRoom* room)
    : tables_(tables),
      room_(room),
      symbols_(symbols),
      opener_(opener),
      debug_files_(debug_files),
      reports_(std::move(reports)) {
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
  if (tables_ != nullptr) known.table = add_table(fd.get(), file.path);
  known.file = std::move(fd);
}

// Processes that the daemon does not know yet are walked by the files that they map. The table is
// of that file alone: what is in it may be something else than in the object.
void ObjectRegistry::copy_found(const MappedObject& object, UniqueFd fd) {
  if (tables_ == nullptr) return;
  (void)add_table(fd.get(), objects_[object.id].request.path);
}

// What is no ELF file for this machine has no table, and its mappings are known all the same.
UnwindObjectId ObjectRegistry::add_table(int fd, const std::string& path) {
  const std::uint64_t refused = tables_->refused();
  const auto table = tables_->add_object(fd, opener_.original_of(fd));
  if (tables_->refused() != refused && reports_.refused) {
    ObjectRefusals causes;
    causes.add(ObjectRefusal::UnwindTable);
    reports_.refused(path, causes);
  }
  return table ? *table : OFFCPUD_UNWIND_NO_OBJECT;
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
  object.symbols =
      symbols_.offer({std::move(file), object.request.path, std::move(root)}, known).value_or(0);
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
    if (const OpenedFile opened = open_again(*object); opened.fd) {
      object->table = add_table(opened.fd.get(), object->request.path);
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
  if (object.file) offer(mapping.file->object->id, object, std::move(object.file));
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
