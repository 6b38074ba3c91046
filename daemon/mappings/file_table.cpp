// SPDX-License-Identifier: Apache-2.0
#include "mappings/file_table.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/deleted_path.h"

namespace offcpud {
namespace {

using Outcome = OpenedFile::Outcome;

constexpr unsigned kAttempts = 8;
constexpr unsigned kCopyAttempts = 3;
constexpr std::size_t kMaxPlaces = 48;  // fewer than the files that TableStore keeps

// Keys are bytes, so that one map holds both kinds of keys.
template <class T>
void append_bytes(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_user(std::string& key, const RootId& root) {
  append_bytes(key, root.user);
  append_bytes(key, root.user_is);
}

// The inode number alone is not enough: on btrfs, subvolumes share a device and reuse numbers.
std::string key_of(const SeenMapping& seen, const InodeId& inode) {
  std::string key = "i";
  append_bytes(key, inode.device_major);
  append_bytes(key, inode.device_minor);
  append_bytes(key, inode.inode);
  append_bytes(key, seen.root.device);
  append_bytes(key, seen.root.inode);
  append_user(key, seen.root);
  return key += seen.path;
}

std::string key_of(const BuildId& build_id, const RootId& root) {
  std::string key = "b";
  key.append(reinterpret_cast<const char*>(build_id.bytes.data()), build_id.size);
  append_user(key, root);
  return key;
}

// Events call anonymous memory "//anon", and files whose path they cannot tell "//toolong" or
// "//enomem"; /proc/PID/maps has an empty path or a name in brackets.
MappedFile::Kind kind_of(const SeenMapping& seen) {
  if (seen.build_id.known() || seen.inode.known()) return MappedFile::Kind::File;
  if (seen.path == "[vdso]") return MappedFile::Kind::Vdso;
  if (seen.path.empty() || seen.path == "//anon" || seen.path.starts_with("[anon")) {
    return MappedFile::Kind::Anonymous;
  }
  return seen.path.starts_with('[') ? MappedFile::Kind::Other : MappedFile::Kind::File;
}

bool is_own(const RootId& root) {
  return root.user_is == RootId::UserIs::Own;
}

// Another attempt at the same place would give the same result for some time.
bool is_final(Outcome outcome) {
  return outcome == Outcome::Opened || outcome == Outcome::Remote || outcome == Outcome::NotAFile ||
         outcome == Outcome::Slow || outcome == Outcome::TooLarge;
}

template <class Map>
void erase_expired(Map& map) {
  std::erase_if(map, [](const auto& entry) { return entry.second.expired(); });
}

}  // namespace

FileTable::FileTable(FileOpener& opener, std::size_t max_unused, Found found, Copied copied,
                     Forgotten forgotten, Changed changed)
    : opener_(opener),
      max_unused_(max_unused),
      found_(std::move(found)),
      copied_(std::move(copied)),
      forgotten_(std::move(forgotten)),
      changed_(std::move(changed)) {}

std::shared_ptr<const MappedFile> FileTable::file_of(const SeenMapping& seen) {
  MappedFile file;
  file.kind = kind_of(seen);
  if (file.kind == MappedFile::Kind::File) {
    std::string_view path = seen.path.starts_with("//") ? std::string_view() : seen.path;
    // A file that really has such a name is taken for a deleted one, and opened by mapping only.
    file.deleted = remove_deleted(path);
    file.path = path;
    find_object(seen, file);
  } else if (file.kind != MappedFile::Kind::Anonymous) {
    file.path = seen.path;
  }
  auto shared = interned(std::move(file));
  if (seen.inode.known()) by_inode_[key_of(seen, seen.inode)] = shared;
  return shared;
}

std::shared_ptr<const MappedFile> FileTable::interned(MappedFile file) {
  std::string key;
  key += static_cast<char>(file.kind);
  key += file.deleted ? 'd' : '-';
  key += file.borrowed ? 'b' : '-';
  append_bytes(key, file.object ? file.object->id : std::uint64_t{0});
  key += file.path;
  std::weak_ptr<const MappedFile>& known = files_[std::move(key)];
  auto shared = known.lock();
  if (!shared) known = shared = std::make_shared<const MappedFile>(std::move(file));
  return shared;
}

void FileTable::find_object(const SeenMapping& seen, MappedFile& file) {
  BuildId build_id = seen.build_id;
  InodeId inode;
  std::optional<OpenedFile> opened;
  if (!build_id.known() && !seen.inode.known()) {
    ++counts_.unnamed;
    return;
  }
  if (!build_id.known()) {
    const auto known = by_inode_.find(key_of(seen, seen.inode));
    const auto same = known == by_inode_.end() ? nullptr : known->second.lock();
    if (same && same->object) {
      build_id = same->object->build_id;
      inode = same->object->inode;
    } else {
      opened = open(seen, file);
      if (opened->outcome == Outcome::Opened) build_id = opened->build_id;
      if (!build_id.known()) inode = seen.inode;
    }
  }
  if (Object* const known = opened_by_user(seen, build_id)) {
    file.object = known->object;
    file.borrowed = !is_own(seen.root);
    return find_copy(*known, seen, file);
  }
  Object& entry = build_id.known()
                      ? object_of(build_id, seen.root)
                      : object_for(key_of(seen, inode), {.id = 0, .build_id = {}, .inode = inode});
  file.object = entry.object;
  if (entry.opened) return find_copy(entry, seen, file);
  Place* const place = place_of(entry, seen, file);
  if (!opened && place != nullptr && place->attempts_left > 0) opened = open(seen, file);
  if (build_id.known() && is_own(seen.root)) return settle_own(entry, place, opened, seen, file);
  if (opened) settle(entry, place, std::move(*opened), file);
}

FileTable::Object* FileTable::opened_by_user(const SeenMapping& seen, const BuildId& build_id) {
  if (!build_id.known() || seen.root.user_is == RootId::UserIs::Unknown) return nullptr;
  RootId root = seen.root;
  root.user_is = RootId::UserIs::Own;
  const auto known = objects_.find(key_of(build_id, root));
  return known == objects_.end() || !known->second.opened ? nullptr : &known->second;
}

// Between the mapping and one of the two readings of its user, the process may have executed a
// program of another user, such as sudo, or stopped being root. A file opened in that case, or
// found by its path only, becomes an object without a certain user (inherited()); if root changed
// its user, of the user it changed to.
void FileTable::settle_own(Object& entry, Place* place, std::optional<OpenedFile>& opened,
                           const SeenMapping& seen, MappedFile& file) {
  RootId root = seen.root.inherited();
  const bool is_open = opened && opened->outcome == Outcome::Opened;
  const bool is_sure = is_open && opened->mapped_by == seen.root.user;
  if (is_open && !is_sure) {
    if (place != nullptr && place->attempts_left > 0) --place->attempts_left;
    if (opened->mapped_by && root.user == 0) {
      root.user = *opened->mapped_by;
      if (changed_) changed_(seen.tgid, root);
    }
    Object& others = object_of(entry.object->build_id, root);
    if (!others.opened) settle(others, nullptr, std::move(*opened), file);
  } else if (opened) {
    settle(entry, place, std::move(*opened), file);
  }
  if (entry.opened) return;
  const auto others = objects_.find(key_of(entry.object->build_id, root));
  if (others != objects_.end() && others->second.opened) file.object = others->second.object;
}

// Looks in the place where the object was first seen, too: it may have been opened in another root.
void FileTable::find_copy(Object& entry, const SeenMapping& seen, const MappedFile& file) {
  if (!entry.object->build_id.known() || !seen.copies || !seen.root.known()) return;
  Place* const place = place_of(entry, seen, file);
  if (place == nullptr || place->attempts_left == 0) return;
  OpenedFile opened = open(seen, file, seen.root);
  place->attempts_left = is_final(opened.outcome) ? 0 : place->attempts_left - 1;
  if (opened.outcome == Outcome::Opened) copied_(*entry.object, std::move(opened.fd));
}

FileTable::Place* FileTable::place_of(Object& entry, const SeenMapping& seen,
                                      const MappedFile& file) {
  std::string key(file.path);
  append_bytes(key, seen.root.device);
  append_bytes(key, seen.root.inode);
  const std::size_t hash = std::hash<std::string>{}(key);
  const auto known = std::ranges::find(entry.places, hash, &Place::hash);
  if (known != entry.places.end()) return &*known;
  if (entry.places.size() >= kMaxPlaces && !take_place(entry.places, seen.root)) return nullptr;
  return &entry.places.emplace_back(
      Place{hash, seen.root, entry.opened ? kCopyAttempts : kAttempts});
}

// Frees a place for a root: the root with most places loses its oldest. So a container that fills
// all places does not keep out others. It ends when all roots have equally many.
bool FileTable::take_place(std::vector<Place>& places, const RootId& wants) {
  const auto held = [&places](const RootId& root) {
    return std::ranges::count(places, root, &Place::root);
  };
  const auto gives = std::ranges::max_element(
      places, {}, [&held](const Place& place) { return held(place.root); });
  if (held(gives->root) <= held(wants) + 1) return false;
  places.erase(gives);  // the oldest of that root
  return true;
}

FileTable::Object& FileTable::object_of(const BuildId& build_id, const RootId& root) {
  MappedObject object{.id = 0, .build_id = build_id, .inode = {}};
  if (is_own(root)) object.user = root.user;
  return object_for(key_of(build_id, root), object);
}

FileTable::Object& FileTable::object_for(const std::string& key, MappedObject object) {
  Object& entry = objects_[key];
  if (!entry.object) {
    object.id = ++last_id_;
    entry.object = std::make_shared<const MappedObject>(object);
  }
  return entry;
}

OpenedFile FileTable::open(const SeenMapping& seen, const MappedFile& file, RootId root) {
  FileRequest request;
  request.tgid = seen.tgid;
  request.parent_tgid = seen.parent_tgid;
  request.begin = seen.begin;
  request.end = seen.end;
  request.path = file.path;
  request.deleted = file.deleted;
  request.build_id = seen.build_id;
  request.inode = seen.inode;
  request.root = root;
  OpenedFile opened = opener_.open(request);
  ++counts_.attempts[static_cast<std::size_t>(opened.outcome)];
  return opened;
}

void FileTable::settle(Object& entry, Place* place, OpenedFile opened, const MappedFile& file) {
  if (opened.outcome == Outcome::Refused) {
    refused_.emplace(entry.object->id, &entry);
  } else {
    refused_.erase(entry.object->id);
    if (place != nullptr && place->attempts_left > 0) {
      place->attempts_left = is_final(opened.outcome) ? 0 : place->attempts_left - 1;
    }
  }
  if (opened.outcome == Outcome::Opened) {
    entry.opened = true;
    entry.places.clear();  // copies may be anywhere, so forget where the object was looked for
    ++counts_.objects_opened;
  } else if (std::exchange(entry.told, true)) {
    return;
  }
  entry.told = true;
  found_(entry.object, file, std::move(opened.fd));
}

bool FileTable::is_refused(const MappedFile& file) const {
  return file.object && refused_.contains(file.object->id);
}

bool FileTable::try_again(const SeenMapping& seen, const MappedFile& file) {
  const auto refused = refused_.find(file.object->id);
  if (refused == refused_.end()) return false;
  Object& entry = *refused->second;
  OpenedFile opened = open(seen, file);
  const auto& user = entry.object->user;
  if (user && opened.mapped_by != user) opened = OpenedFile();
  settle(entry, place_of(entry, seen, file), std::move(opened), file);
  return entry.opened;
}

void FileTable::forgive() {
  for (auto& [key, entry] : objects_) {
    if (!entry.opened) entry.places.clear();
  }
}

void FileTable::prune() {
  std::vector<std::uint64_t> unused;
  for (auto& [key, entry] : objects_) {
    if (entry.opened) entry.places.clear();
    if (entry.object.use_count() == 1 && entry.object->build_id.known()) {
      unused.push_back(entry.object->id);
    }
  }
  std::uint64_t forget_below = 0;
  if (unused.size() > max_unused_) {
    const auto oldest_kept = unused.end() - static_cast<std::ptrdiff_t>(max_unused_);
    std::nth_element(unused.begin(), oldest_kept, unused.end());
    forget_below = oldest_kept == unused.end() ? last_id_ + 1 : *oldest_kept;
  }
  std::erase_if(objects_, [&](const auto& item) {
    const auto& object = item.second.object;
    if (object.use_count() != 1) return false;
    if (object->build_id.known() && object->id >= forget_below) return false;
    refused_.erase(object->id);
    forgotten_(*object);
    return true;
  });
  if (files_.size() + by_inode_.size() < prune_files_at_) return;
  erase_expired(files_);
  erase_expired(by_inode_);
  prune_files_at_ = std::max(std::size_t{1024}, 2 * (files_.size() + by_inode_.size()));
}

}  // namespace offcpud
