// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unique_handle.h"
#include "mappings/file_opener.h"
#include "mappings/mapped_file.h"

namespace offcpud {

// A mapping as reported by an event or a line of /proc/PID/maps.
struct SeenMapping {
  std::uint32_t tgid = 0;
  std::uint32_t parent_tgid = 0;  // 0: not known
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  BuildId build_id;
  InodeId inode;
  RootId root;            // root and user of the process; unknown: copies are not looked for
  bool copies = true;     // whether to look for copies: for events, not for lines of /proc/PID/maps
  std::string_view path;  // with the kernel's " (deleted)"
};

// Every mapped file and object, once. An object is opened when it is first seen, while the process
// that maps it still exists; if that fails, it is tried again when the object is seen mapped
// elsewhere, a few times per place. Its copies, in other roots or under other names, are opened as
// well, because the kernel knows files by their inodes, not by their contents. Used by one thread.
//
// Objects belong to users: a build-id is only what a file claims, and a place may be on a file
// system that the user controls, so what one user maps must not decide anything for another. A file
// is a user's if a process of that user maps it; the user of the process is read before and after
// the mapping is seen. A process that was gone before its user could be read
// (RootId::UserIs::OfParent) borrows the object of its parent's user, if that object was opened,
// and decides nothing.
class FileTable {
 public:
  struct Counts {
    std::uint64_t objects_opened = 0;
    std::uint64_t unnamed = 0;  // mappings of files without build-id and inode
    // Attempts to open an object or a copy, by OpenedFile::Outcome.
    std::array<std::uint64_t, OpenedFile::kOutcomes> attempts{};
  };

  // Called once for each object, with its open file; without a file if the first attempt to open it
  // failed.
  using Found = std::function<void(const std::shared_ptr<const MappedObject>&, const MappedFile&,
                                   UniqueFd file)>;
  // Called with each copy of an object that is already open.
  using Copied = std::function<void(const MappedObject&, UniqueFd file)>;
  using Forgotten = std::function<void(const MappedObject&)>;
  // Called when a process turns out to run as another user than `seen` said.
  using Changed = std::function<void(std::uint32_t tgid, const RootId& root)>;

  // `max_unused` limits the objects that are kept although nothing maps them.
  FileTable(FileOpener& opener, std::size_t max_unused, Found found, Copied copied,
            Forgotten forgotten, Changed changed = {});

  std::shared_ptr<const MappedFile> file_of(const SeenMapping& seen);

  // Whether the last attempt to open the object of a file was refused, which is temporary.
  [[nodiscard]] bool is_refused(const MappedFile& file) const;
  // Tries again to open it. True: it is open now, and found() was called.
  bool try_again(const SeenMapping& seen, const MappedFile& file);

  // Drops what no mapping refers to: objects known by inode at once, because inode numbers are
  // reused; of those known by build-id the oldest beyond `max_unused`. From then on, copies are
  // looked for anew, because another file may have replaced one.
  void prune();

  // Allows new attempts to open what failed, when it is mapped again.
  void forgive();

  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t objects() const { return objects_.size(); }

 private:
  // A place where an object or a copy was looked for: the root of a process, and the path in it.
  struct Place {
    std::size_t hash = 0;
    RootId root;
    unsigned attempts_left = 0;
  };
  struct Object {
    std::shared_ptr<const MappedObject> object;
    bool told = false;    // found() was called, with or without a file
    bool opened = false;  // then `places` are those of copies, since the last prune()
    std::vector<Place> places;
  };

  void find_object(const SeenMapping& seen, MappedFile& file);
  std::shared_ptr<const MappedFile> interned(MappedFile file);
  // The object that a process of the same user opened. Null: none has.
  Object* opened_by_user(const SeenMapping& seen, const BuildId& build_id);
  Object& object_of(const BuildId& build_id, const RootId& root);
  Object& object_for(const std::string& key, MappedObject object);
  OpenedFile open(const SeenMapping& seen, const MappedFile& file, RootId root = {});
  void find_copy(Object& entry, const SeenMapping& seen, const MappedFile& file);
  // Null: enough places were searched for now.
  static Place* place_of(Object& entry, const SeenMapping& seen, const MappedFile& file);
  static bool take_place(std::vector<Place>& places, const RootId& wants);
  // For a process whose user was read before the file was opened.
  void settle_own(Object& entry, Place* place, std::optional<OpenedFile>& opened,
                  const SeenMapping& seen, MappedFile& file);
  void settle(Object& entry, Place* place, OpenedFile opened, const MappedFile& file);

  FileOpener& opener_;
  std::size_t max_unused_;
  Found found_;
  Copied copied_;
  Forgotten forgotten_;
  Changed changed_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::string, Object> objects_;  // by key
  // By MappedObject::id: refused at the last attempt.
  std::unordered_map<std::uint64_t, Object*> refused_;
  std::unordered_map<std::string, std::weak_ptr<const MappedFile>> files_;  // by object and path
  // Files that are mapped now, so that their inode numbers cannot have been reused; see key_of().
  std::unordered_map<std::string, std::weak_ptr<const MappedFile>> by_inode_;
  std::size_t prune_files_at_ = 1024;
  Counts counts_;
};

}  // namespace offcpud
