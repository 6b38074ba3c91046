// SPDX-License-Identifier: Apache-2.0
#include "sampler/object_registry.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <utility>

#include "unwind/vdso.h"

namespace offcpud {

ObjectRegistry::ObjectRegistry(TableStore* tables, SymbolWorker& symbols,
                               std::function<void(const Error&)> failed)
    : tables_(tables), symbols_(symbols), failed_(std::move(failed)) {
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
  known.path = file.path;
  if (!fd) return;
  if (tables_ != nullptr) {
    // What is no ELF file for this machine has no table, and its mappings are known all the same.
    if (const auto table = tables_->add_object(fd.get())) known.table = *table;
  }
  known.file = std::move(fd);
}

// Debug files are looked for below the root of the process that maps the object, as long as that
// exists.
ObjectId ObjectRegistry::offer(const Object& object, UniqueFd file) {
  std::optional<RootDirectory> root;
  if (auto opened = RootDirectory::open("/proc/" + std::to_string(object.tgid) + "/root")) {
    root = *std::move(opened);
  }
  return symbols_.offer({std::move(file), object.path, std::move(root)}).value_or(0);
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
    object->tgid = image.tgid;
    object->begin = mapping.begin;
    object->end = mapping.end;
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
    if (const UniqueFd fd = open_mapped(*object)) {
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

// Nothing if the process is gone, or has something else there that is no regular file.
UniqueFd ObjectRegistry::open_mapped(const Object& object) {
  std::array<char, 96> path{};
  std::snprintf(path.data(), path.size(), "/proc/%u/map_files/%llx-%llx", object.tgid,
                static_cast<unsigned long long>(object.begin),
                static_cast<unsigned long long>(object.end));
  UniqueFd fd(::open(path.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (fd && (::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode))) fd.reset();
  return fd;
}

void ObjectRegistry::offer_wanted() {
  for (const ObjectId wanted : symbols_.take_wanted()) {
    const auto id = by_symbols_.find(wanted);
    if (id == by_symbols_.end()) continue;
    const auto object = objects_.find(id->second);
    if (object == objects_.end()) continue;
    // Another file in its place gets a number of its own, which is not the object's.
    if (UniqueFd fd = open_mapped(object->second)) (void)offer(object->second, std::move(fd));
  }
}

void ObjectRegistry::note(const Status& status) const {
  if (!status) failed_(status.error());
}

}  // namespace offcpud
