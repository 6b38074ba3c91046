// SPDX-License-Identifier: Apache-2.0
#include "sampler/object_registry.h"

#include <utility>

#include "unwind/vdso.h"

namespace offcpud {

ObjectRegistry::ObjectRegistry(TableStore* tables, SymbolWorker& symbols, FileOpener& opener,
                               std::function<void(const Error&)> failed)
    : tables_(tables), symbols_(symbols), opener_(opener), failed_(std::move(failed)) {
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
  if (tables_ != nullptr) {
    // What is no ELF file for this machine has no table, and its mappings are known all the same.
    if (const auto table = tables_->add_object(fd.get())) known.table = *table;
  }
  known.file = std::move(fd);
}

// Processes that the daemon does not know yet are walked by the files that they map.
void ObjectRegistry::copy_found(const MappedObject& object, UniqueFd fd) {
  if (tables_ == nullptr) return;
  Object& known = objects_[object.id];
  const auto table = tables_->add_object(fd.get());
  if (table && known.table == OFFCPUD_UNWIND_NO_OBJECT) known.table = *table;
}

// Debug files are looked for below the root of the process that maps the object, as long as that
// exists.
ObjectId ObjectRegistry::offer(const Object& object, UniqueFd file) {
  std::optional<RootDirectory> root;
  if (auto opened = RootDirectory::open("/proc/" + std::to_string(object.request.tgid) + "/root")) {
    root = *std::move(opened);
  }
  return symbols_.offer({std::move(file), object.request.path, std::move(root)}).value_or(0);
}

void ObjectRegistry::object_forgotten(const MappedObject& object) {
  const auto found = objects_.find(object.id);
  if (found == objects_.end()) return;
  by_symbols_.erase(found->second.symbols);
  objects_.erase(found);
}

void ObjectRegistry::image_began(const ImageId& image, std::span<const Mapping> inherited) {
  for (const Mapping& mapping : inherited) add(image, mapping);
}

void ObjectRegistry::mapping_added(const ImageId& image, const Mapping& mapping) {
  add(image, mapping);
}

void ObjectRegistry::mapping_removed(const ImageId& image, const Mapping& mapping) {
  if (tables_ != nullptr) note(tables_->remove_mappings(image.tgid, mapping.begin, mapping.end));
}

void ObjectRegistry::image_ended(const ImageId& image, std::span<const Mapping> /*mappings*/) {
  if (tables_ != nullptr) note(tables_->remove_process(image.tgid));
}

void ObjectRegistry::add(const ImageId& image, const Mapping& mapping) {
  UnwindObjectId table = OFFCPUD_UNWIND_NO_OBJECT;
  Object* object = nullptr;
  if (mapping.file->object) {
    object = &objects_[mapping.file->object->id];
    object->request.tgid = image.tgid;
    object->request.begin = mapping.begin;
    object->request.end = mapping.end;
    if (object->file) {
      object->symbols = offer(*object, std::move(object->file));
      if (object->symbols != 0) by_symbols_[object->symbols] = mapping.file->object->id;
    }
    table = object->table;
  } else if (mapping.file->kind == MappedFile::Kind::Vdso) {
    table = vdso_;
  }
  if (tables_ == nullptr) return;
  Status status = map(image, mapping, table);
  if (!status && object != nullptr && table != OFFCPUD_UNWIND_NO_OBJECT) {
    // The table was given up for others while nobody used it.
    object->table = OFFCPUD_UNWIND_NO_OBJECT;
    if (const UniqueFd fd = open_again(*object)) {
      if (const auto again = tables_->add_object(fd.get())) object->table = *again;
    }
    status = map(image, mapping, object->table);
  }
  note(status);
}

Status ObjectRegistry::map(const ImageId& image, const Mapping& mapping, UnwindObjectId table) {
  const bool in_file = mapping.file->kind == MappedFile::Kind::File;
  return tables_->add_mapping(image.tgid, mapping.begin, mapping.end, in_file ? mapping.offset : 0,
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
  if (!status) failed_(status.error());
}

}  // namespace offcpud
