// SPDX-License-Identifier: Apache-2.0
#include "sampler/object_registry.h"

#include <chrono>
#include <utility>

#include "unwind/vdso.h"

namespace offcpud {
namespace {

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
  if (!fd) return;
  if (known.file) --open_;
  known.file_due = open_ >= kMostOpen;
  if (known.file_due) return;
  known.file = std::move(fd);
  ++open_;
}

// Processes that the daemon does not know yet are walked by the files that they map.
void ObjectRegistry::copy_found(const MappedObject& object, UniqueFd fd) {
  if (tables_ == nullptr) return;
  Object& known = objects_[object.id];
  if (open_ >= kMostOpen) return add_table(known, fd.get(), std::nullopt);
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
  if (!is_new && object.copies.empty() && !wants_table) return;
  const ShareOwner owner = user_of(object.request.tgid);
  for (const UniqueFd& copy : std::exchange(object.copies, {})) {
    --open_;
    add_table(object, copy.get(), owner);
  }
  if (object.file) --open_;
  UniqueFd file = std::move(object.file);
  if (!file && (object.file_due || (wants_table && has_time(owner)))) file = open_again(object);
  object.file_due = false;
  if (!file) return;
  if (tables_ != nullptr) add_table(object, file.get(), owner);
  if (!is_new) return;
  object.symbols = offer(object, std::move(file));
  if (object.symbols != 0) by_symbols_[object.symbols] = id;
}

bool ObjectRegistry::has_time(const ShareOwner& owner) const {
  return shares_.left(owner, std::chrono::steady_clock::now()) > std::chrono::nanoseconds(0);
}

// What is no ELF file for this machine has no table, and its mappings are known all the same.
void ObjectRegistry::add_table(Object& object, int fd, const ShareOwner& owner) {
  object.table_due = !has_time(owner);
  if (object.table_due) {
    ++out_of_time_;
    return;
  }
  const std::uint64_t refused = tables_->refused();
  const auto before = thread_cpu_time();
  const auto table = tables_->add_object(fd, owner);
  shares_.charge(owner, thread_cpu_time() - before, std::chrono::steady_clock::now());
  if (tables_->refused() != refused && reports_.refused) {
    ObjectRefusals causes;
    causes.add(ObjectRefusal::UnwindTable);
    reports_.refused(object.request.path, causes);
  }
  if (table && object.table == OFFCPUD_UNWIND_NO_OBJECT) object.table = *table;
}

// Debug files are looked for below the root of the process that maps the object, as long as that
// exists.
ObjectId ObjectRegistry::offer(const Object& object, UniqueFd file) {
  std::optional<RootDirectory> root;
  const std::uint32_t tgid = object.request.tgid;
  if (UniqueFd opened = opener_.open_root(tgid))
    root.emplace(std::move(opened), tgid, debug_files_);
  return symbols_.offer({std::move(file), object.request.path, std::move(root)}, user_of(tgid))
      .value_or(0);
}

void ObjectRegistry::object_forgotten(const MappedObject& object) {
  const auto found = objects_.find(object.id);
  if (found == objects_.end()) return;
  by_symbols_.erase(found->second.symbols);
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
    object->request.tgid = tgid;
    object->request.begin = mapping.begin;
    object->request.end = mapping.end;
    take_in(*object, mapping.file->object->id);
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
    if (const UniqueFd fd = open_again(*object)) add_table(*object, fd.get(), user_of(tgid));
    status = map(tgid, mapping, object->table);
  }
  note(status);
}

Status ObjectRegistry::map(std::uint32_t tgid, const Mapping& mapping, UnwindObjectId table) {
  const bool in_file = mapping.file->kind == MappedFile::Kind::File;
  return tables_->add_mapping(tgid, mapping.begin, mapping.end, in_file ? mapping.offset : 0,
                              table);
}

// As it was opened the first time: nothing that could hang, and no other file in its place. Nothing
// if the process is gone and nobody else has the file.
UniqueFd ObjectRegistry::open_again(const Object& object) {
  return std::move(opener_.open(object.request).fd);
}

void ObjectRegistry::offer_wanted() {
  for (const ObjectId wanted : symbols_.take_wanted()) {
    const auto id = by_symbols_.find(wanted);
    if (id == by_symbols_.end()) continue;
    const auto object = objects_.find(id->second);
    if (object == objects_.end()) continue;
    if (UniqueFd fd = open_again(object->second)) (void)offer(object->second, std::move(fd));
  }
}

void ObjectRegistry::note(const Status& status) const {
  if (!status) reports_.failed(status.error());
}

}  // namespace offcpud
